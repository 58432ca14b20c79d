// Package query contains the SQL statements for both engines. Each file contains one statement. A statement, its file and the method that runs it
// have the same name.
package query

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed *.sql
var files embed.FS

var statements = func() map[string]statement {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // embedded, so it cannot fail at run time
	}
	all := make(map[string]statement, len(entries))
	for _, e := range entries {
		text, err := files.ReadFile(e.Name())
		if err != nil {
			panic(err)
		}
		made, err := expand(strings.TrimSuffix(e.Name(), ".sql"), string(text))
		if err != nil {
			panic(err)
		}
		for name, s := range made {
			s.remarks, s.text = s.text, strip(s.text)
			all[name] = s
		}
	}
	return all
}()

// All returns all statements by name, without comments.
func All() map[string]string {
	all := make(map[string]string, len(statements))
	for name, s := range statements {
		all[name] = s.text
	}
	return all
}

// File returns a statement from another package's directory. It panics for an unknown name, which is a bug.
func File(directory embed.FS, name string) string {
	text, err := directory.ReadFile(name + ".sql")
	if err != nil {
		panic(err)
	}
	return strings.TrimSpace(string(text))
}

// Get returns a statement's text. It panics for an unknown name, which is a bug in the calling code.
func Get(name string) string { return known(name).text }

// Remark returns a header comment from a statement's file, such as "rows". It returns "" if the file has no such comment.
func Remark(name, about string) string {
	for line := range strings.Lines(known(name).remarks) {
		if rest, ok := strings.CutPrefix(line, "-- "+about+":"); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// Columns returns, in order, the columns for which a statement takes arguments.
func Columns(name string) []Column { return known(name).columns }

// BestForm returns the name of a statement's best form for n rows. sameValue reports whether all rows have the same value in a column. arrays
// contains one value for each column: true if the form takes an array for the column.
func BestForm(name string, n int, sameValue func(column string) bool) (statement string, arrays []bool) {
	s := known(name)
	differs := func(c Column) bool { return !c.varies && !sameValue(c.Name) }
	to := many
	switch {
	case n == 1 && slices.Contains(s.shapes, one):
		to = one
	case slices.Contains(s.shapes, alike) && !slices.ContainsFunc(s.columns, differs):
		to = alike
	}
	arrays = make([]bool, len(s.columns))
	for i, c := range s.columns {
		arrays[i] = to.varies(c)
	}
	return to.statementName(name), arrays
}

// HasKeys reports whether a statement has forms that list their rows' keys.
func HasKeys(name string) bool { return slices.Contains(known(name).shapes, keyed[0]) }

// KeyedForm returns the name of a statement's smallest form that can list n row keys. It also returns the number of keys that this form takes. If no
// form is large enough, for example for more than MostKeys rows, it returns 0.
func KeyedForm(name string, n int) (statement string, takes int) {
	for _, s := range known(name).shapes {
		if s.keys() >= n && n > 0 {
			return s.statementName(name), s.keys()
		}
	}
	return "", 0
}

// CheckedForm returns the name of a statement's checked form, and whether that form exists. The checked form fails unless the row count equals its
// last argument.
func CheckedForm(name string) (string, bool) {
	_, there := statements[name+checked]
	return name + checked, there
}

func known(name string) statement {
	s, ok := statements[name]
	if !ok {
		panic(fmt.Sprintf("query: no statement %q", name))
	}
	return s
}

func strip(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if trimmed := strings.TrimSpace(line); trimmed != "" && !strings.HasPrefix(trimmed, "--") {
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, ""))
}
