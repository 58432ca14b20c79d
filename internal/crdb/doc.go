// Package crdb is the SQL adapter: it implements the stores that alloc and tenancy declare, on CockroachDB and on PostgreSQL 15 or newer. The package
// has the name of the product's database. Both engines run the same statements. The differences are behind the interface engine, here and in schema,
// and in the files engine_*.go. Packages below: query contains the SQL, rows maps values to columns, lookup reads, write writes, outcome classifies
// attempts, dial connects to the database, and schema prepares the database before a server works. audit checks the stored rows' invariants.
//
// # Transactions
//
// Every transaction is SERIALIZABLE, with one exception. On PostgreSQL, when the use case names the rows that it depends on, the transaction is READ
// COMMITTED under locks (locks.go). The reason: PostgreSQL tracks SERIALIZABLE reads by index page, so transactions on unrelated pools conflict when
// their rows share a page. Every transaction has a name and is atomic. A failed attempt is rolled back, and the retry starts from the beginning.
// BEGIN and the locks travel with the first reads, so a claim costs three round trips: read, write, commit. An attempt has three possible endings
// (package outcome):
//
//   - again: the database reports that nothing happened, and a retry may succeed;
//   - refused: an error of the use case, or an error that a retry would not change;
//   - unknown: COMMIT was sent, and no definite reply came back.
//
// The package does not use pgx's SafeToRetry: for a connection that is lost after COMMIT was sent it returns true although the row is there (measured
// with pgx v5.9 to v5.12).
package crdb
