// Package migrations holds the numbered schema changes, each safe to run twice.
//
// The first file makes the whole schema. It stands between StatementBegin and StatementEnd, and so reaches the database as one message: on both
// engines that is one transaction, in which CockroachDB makes new tables and their indexes in a second. A later file has one statement, because
// CockroachDB's changes of tables that are there already are not transactional.
//
// Rules: no surrounding transaction, IF [NOT] EXISTS, every constraint named (errors are mapped by constraint name), sizes stated (INT2, INT8),
// no column named "family" (it does not parse on CockroachDB), no change of a column's type. Regions, localities and survival goals are
// deployment data and not migrations.
package migrations

import "embed"

// FS holds the *.sql files.
//
//go:embed *.sql
var FS embed.FS
