// Package audit checks the stored data in a whole database. Each invariant is an SQL statement that searches for violations. Every row that it
// returns is one violation: a container's id, and the detail. The statements do not use the service's own arithmetic, so that they also find its
// bugs.
package audit

import (
	"embed"

	"github.com/carve-ipam/carve/internal/crdb/query"
)

// files contains the statements.
//
//go:embed *.sql
var files embed.FS

// invariants lists the statements that search for violations.
var invariants = []string{
	"alerts", "aligned", "borrowed", "claims", "classes", "consumers", "epochs", "grants", "history", "leaves", "loans", "maximal",
	"members", "names", "owners", "parents", "pools", "quotas", "sums", "tiling", "utilization", "webhooks",
}

// statement returns one statement by name.
func statement(name string) string { return query.File(files, name) }
