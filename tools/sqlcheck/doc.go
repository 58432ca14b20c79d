// Package sqlcheck reads every SQL statement and migration of the project with CockroachDB's own grammar, and holds it to
// the rules that keep one text right on both engines.
//
// The tests run on PostgreSQL, so PostgreSQL notices what it cannot do itself. This package looks for the rest: what
// PostgreSQL accepts and CockroachDB refuses (the grammar finds those), and what both accept and answer differently, or
// what is right on both and slow on a cluster (the rules find those; each rule says why it exists).
//
// It is a module of its own because the grammar brings 55 modules along, which belong neither into the product's module
// graph nor into its binaries. It reads the SQL by relative path, outside this module, where go test's cache does not
// look: run it with -count=1, as `make test` does.
package sqlcheck
