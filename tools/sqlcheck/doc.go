// Package sqlcheck parses every SQL statement and migration of the project with CockroachDB's own grammar. Carve uses the same SQL text on PostgreSQL
// and CockroachDB. Package sqlcheck therefore also checks rules that keep each text correct on both engines.
//
// Most tests run on PostgreSQL, so they find statements that PostgreSQL refuses. This package finds other faults. The grammar finds texts that
// PostgreSQL accepts and CockroachDB refuses. The rules, each with its reason, find texts that give different results on the two engines. They also
// find texts that are correct on both engines, but slow on a cluster.
//
// It is a separate module because the grammar has 55 dependencies, which belong neither into the product's module graph nor into its binaries. It
// reads the SQL by a relative path outside this module. The cache of go test does not see changes there, so run it with -count=1, as `make test`
// does.
package sqlcheck
