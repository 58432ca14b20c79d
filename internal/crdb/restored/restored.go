// Package restored contains the statements that run once on a database after a restore from a backup. A server never runs them.
package restored

import (
	"embed"

	"github.com/carve-ipam/carve/internal/crdb/query"
)

//go:embed *.sql
var files embed.FS

// Statement returns a statement's text by name.
func Statement(name string) string { return query.File(files, name) }
