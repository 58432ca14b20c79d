// Package migrations holds the numbered schema changes, one statement a file, each safe to run twice.
//
// Rules: no surrounding transaction (CockroachDB's schema changes are not transactional), IF [NOT] EXISTS, every
// constraint named (errors are mapped by constraint name), sizes stated (INT2, INT8), no column named "family"
// (it does not parse on CockroachDB), no change of a column's type. Regions, localities and survival goals are
// deployment data and not migrations.
package migrations

import "embed"

// FS holds the *.sql files.
//
//go:embed *.sql
var FS embed.FS
