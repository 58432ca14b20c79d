// Package sqlcheck parses every SQL statement and migration of the project with CockroachDB's own grammar, and checks the rules that keep one text
// right on both engines.
//
// The tests run on PostgreSQL, so they find statements that PostgreSQL refuses. This package finds the rest. The grammar finds texts that PostgreSQL
// accepts and CockroachDB refuses. The rules, each with its reason, find texts that give different results on the two engines, or that are right on
// both and slow on a cluster.
//
// It is a separate module because the grammar has 55 dependencies, which belong neither into the product's module graph nor into its binaries. It
// reads the SQL by relative path, outside this module, where go test's cache does not see changes: run it with -count=1, as `make test` does.
package sqlcheck
