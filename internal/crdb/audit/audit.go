// Package audit holds the invariants of the stored data as SQL, one statement each: every row a statement answers is a
// violation, as (container, what is wrong). The statements use none of the service's own arithmetic.
package audit

import (
	"embed"
	"io/fs"
	"strings"
)

// FS holds the statements.
//
//go:embed *.sql
var FS embed.FS

// Invariants lists the statements that answer violations, by name.
func Invariants() map[string]string {
	out := map[string]string{}
	for _, name := range []string{
		"aligned", "tiling", "leaves", "maximal", "sums", "pools", "parents", "claims", "owners",
		"members", "grants", "quotas", "history", "classes", "borrowed", "loans", "epochs", "names",
	} {
		out[name] = Statement(name)
	}
	return out
}

// Statement answers one statement by name.
func Statement(name string) string {
	text, err := fs.ReadFile(FS, name+".sql")
	if err != nil {
		panic(err) // embedded: a name that is not there is a bug
	}
	return strings.TrimSpace(string(text))
}
