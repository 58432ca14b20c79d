// Package crdb is the SQL adapter. It implements the stores that alloc and tenancy declare, on CockroachDB and on PostgreSQL 15 or newer. The package
// has the name of the product's database, CockroachDB. Both engines run the same statements. The few differences are in the files engine_*.go, behind
// an interface with the name engine. This package has one such interface, and schema has another.
//
// The packages below this one:
//
//   - query contains the SQL.
//   - rows converts values to columns and back.
//   - lookup reads rows.
//   - write changes rows.
//   - outcome classifies the results of attempts.
//   - dial connects to the database.
//   - schema prepares the database before a server uses it.
//   - audit checks the invariants of the stored rows.
//
// # Transactions
//
// Every transaction is atomic and has a name. Every transaction is SERIALIZABLE, with one exception. On PostgreSQL, if the use case names the rows on
// which it depends, the transaction is READ COMMITTED and locks those rows (locks.go). The reason: PostgreSQL tracks SERIALIZABLE reads by index
// page. So transactions on unrelated pools would conflict if their rows share a page.
//
// A failed attempt is rolled back, and a retry starts from the beginning. BEGIN and the locks are sent together with the first reads. So a claim
// costs three round trips: read, write and commit. Apart from success, an attempt can end in three ways (package outcome):
//
//   - again: the database reports that nothing happened, and a retry may succeed.
//   - refused: the use case returned an error, or a retry would give the same error.
//   - unknown: COMMIT was sent, and no definite reply came back.
//
// The package does not use pgx's SafeToRetry. If a connection is lost after COMMIT was sent, SafeToRetry returns true although the row is committed
// (measured with pgx v5.9 to v5.12).
package crdb
