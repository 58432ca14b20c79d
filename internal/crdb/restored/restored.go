// Package restored holds the statements of what is done once to a database that was restored, and never by a server.
package restored

import (
	"embed"
	"strings"
)

//go:embed *.sql
var files embed.FS

// Statement answers one statement by name.
func Statement(name string) string {
	text, err := files.ReadFile(name + ".sql")
	if err != nil {
		panic(err) // embedded: a name that is not there is a bug
	}
	return strings.TrimSpace(string(text))
}
