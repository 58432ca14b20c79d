// Package query holds the SQL: one named statement a file, for both engines. A statement's name is its file's name, and is
// also the name of the method that runs it.
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
		panic(err) // embedded: cannot fail at run time
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

// All answers every statement by name, without its comments.
func All() map[string]string {
	all := make(map[string]string, len(statements))
	for name, s := range statements {
		all[name] = s.text
	}
	return all
}

// Get answers one statement; a name that does not exist is a bug and panics at start.
func Get(name string) string { return known(name).text }

// Remark answers what the head of a statement's file says about something; "": nothing.
func Remark(name, about string) string {
	for line := range strings.Lines(known(name).remarks) {
		if rest, ok := strings.CutPrefix(line, "-- "+about+":"); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// Columns answers which columns of a row a statement takes, in order.
func Columns(name string) []Column { return known(name).columns }

// For answers the statement for n rows, and which of the columns are arrays in it; same reports whether the rows are alike in a column.
func For(name string, n int, same func(column string) bool) (statement string, arrays []bool) {
	s := known(name)
	differs := func(c Column) bool { return !c.varies && !same(c.Name) }
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
	return to.named(name), arrays
}

// HasKeys reports whether a statement has forms that name rows by their keys.
func HasKeys(name string) bool { return slices.Contains(known(name).shapes, keyed[0]) }

// ByKeys answers the form of a statement that names n rows by their keys, at most MostKeys, and how many it takes; 0: it has none.
func ByKeys(name string, n int) (statement string, takes int) {
	for _, s := range known(name).shapes {
		if s.keys() >= n && n > 0 {
			return s.named(name), s.keys()
		}
	}
	return "", 0
}

// Checked is the name of the form of a statement that fails unless it hits as many rows as its last argument says; false: it has none.
func Checked(name string) (string, bool) {
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
