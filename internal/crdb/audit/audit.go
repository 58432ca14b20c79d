// Package audit checks the invariants of the stored data in a whole database. Each invariant is an SQL statement that searches for violations. Every
// row that it returns is one violation: the id of a container, and the detail. The statements use none of the service's own arithmetic, so that they
// also find its bugs.
package audit

import (
	"embed"
	"io/fs"
	"strings"
)

// files contains the statements.
//
//go:embed *.sql
var files embed.FS

// statements returns by name the statements that search for violations.
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

// statement returns one statement by name.
func statement(name string) string {
	text, err := fs.ReadFile(files, name+".sql")
	if err != nil {
		panic(err) // embedded: a missing name is a bug
	}
	return strings.TrimSpace(string(text))
}
