// Package crdb is the SQL adapter: it implements the stores that alloc and tenancy declare, on CockroachDB and on
// PostgreSQL 15 or newer. The name is that of the product's database; the statements are the same on both engines, and
// what differs is said by the interface engine, here and in schema, and is in the files engine_*.go.
// The rooms below: query has the SQL, rows the columns of values, lookup what is read, write what is written, outcome how
// attempts end, dial the way to the database, schema what is there before a server works. Beside them audit proves what has
// to hold.
//
// # Transactions
//
// Every transaction is SERIALIZABLE, or on PostgreSQL, when the use case names what it depends on, READ COMMITTED under locks
// (locks.go): PostgreSQL's own bookkeeping for SERIALIZABLE is by index page, on which unrelated pools meet. It is named, and
// whole: a failed attempt is rolled back and the next one begins afresh.
// BEGIN and the locks travel with the first reads, so a claim costs three round trips: read, write, commit. An attempt ends in one of
// three ways (the room outcome): again (the database says that nothing happened and that trying again may work), refused (an
// error of the use case, or one that trying again would not change), unknown (COMMIT was sent and no definite answer
// came back). pgx's SafeToRetry is not consulted: for a connection that is lost after COMMIT was sent it answers "safe"
// although the row is there (measured with pgx v5.9 to v5.12).
package crdb
