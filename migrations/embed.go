// Package migrations contains the numbered changes of the schema. Each is safe to run twice.
//
// The first file creates the whole schema. It is between StatementBegin and StatementEnd, so that the database gets it as one message. On both
// engines this message is one transaction. In one transaction, CockroachDB creates all new tables and indexes in a second. A later file has only one
// statement, because on CockroachDB changes of existing tables are not transactional.
//
// These rules apply to each file:
//
//   - No transaction surrounds the file.
//   - Statements have IF NOT EXISTS or IF EXISTS.
//   - Every constraint has a name, because errors are mapped by that name.
//   - Integer types have a size (INT2, INT8).
//   - No column has the name "family", which does not parse on CockroachDB.
//   - The type of a column never changes.
//
// Regions, localities and survival goals are not in migrations, because they depend on the deployment. For CockroachDB, `ipamctl migrate` adds the
// locality to each CREATE TABLE. It finds the end of the statement by the layout of its lines.
package migrations

import "embed"

// FS contains the *.sql files.
//
//go:embed *.sql
var FS embed.FS
