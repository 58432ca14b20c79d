// Package restored contains the statements that run once on a database after a restore from a backup. A server never runs them.
package restored

import (
	"embed"
	"strings"
)

//go:embed *.sql
var files embed.FS

// Statement returns the text of a statement by name.
func Statement(name string) string {
	text, err := files.ReadFile(name + ".sql")
	if err != nil {
		panic(err) // embedded, so an unknown name is a bug
	}
	return strings.TrimSpace(string(text))
}
