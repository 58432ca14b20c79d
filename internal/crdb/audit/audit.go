// Package audit proves the invariants of the stored data on a whole database. They are SQL, one statement each: every row that a statement answers is a
// violation, as (container, what is wrong). The statements use none of the service's own arithmetic.
package audit

import (
	"embed"
	"io/fs"
	"strings"
)

// files holds the statements.
//
//go:embed *.sql
var files embed.FS

// statements lists those that answer violations, by name.
func statements() map[string]string {
	out := map[string]string{}
	for _, name := range []string{
		"aligned", "tiling", "leaves", "maximal", "sums", "pools", "parents", "claims", "owners",
		"members", "grants", "quotas", "history", "classes", "borrowed", "loans", "epochs", "names", "consumers", "webhooks", "alerts", "utilization",
	} {
		out[name] = statement(name)
	}
	return out
}

// statement answers one statement by name.
func statement(name string) string {
	text, err := fs.ReadFile(files, name+".sql")
	if err != nil {
		panic(err) // embedded: a name that is not there is a bug
	}
	return strings.TrimSpace(string(text))
}
