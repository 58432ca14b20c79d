// Package query holds the SQL: one named statement a file, for both engines. A statement's name is its file's name, and is
// also the name of the method that runs it.
package query

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed *.sql
var files embed.FS

// All answers every statement by name, without its comments.
func All() map[string]string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // embedded: cannot fail at run time
	}
	all := make(map[string]string, len(entries))
	for _, e := range entries {
		text, err := files.ReadFile(e.Name())
		if err != nil {
			panic(err)
		}
		all[strings.TrimSuffix(e.Name(), ".sql")] = strip(string(text))
	}
	return all
}

var statements = All()

// Get answers one statement; a name that does not exist is a bug and panics at start.
func Get(name string) string {
	s, ok := statements[name]
	if !ok {
		panic(fmt.Sprintf("query: no statement %q", name))
	}
	return s
}

func strip(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "--") {
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, ""))
}
