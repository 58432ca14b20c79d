// Package dbtest gives every test its own database: migrated and otherwise empty,
// on the engine of the test run, and gone when the test ends.
//
//	func TestMain(m *testing.M) { dbtest.Main(m, dbtest.Config{Migrate: migrate}) }
//
//	func TestClaim(t *testing.T) {
//		t.Parallel()
//		dsn := dbtest.New(t)
//		...
//
// # Engines
//
// The default is PostgreSQL: one private cluster for each test process, without fsync,
// started by the first test that needs it. The migrations run once for each process, in a
// template that each test's database copies.
//
// With CARVE_TEST_ENGINE=cockroach or CRDB_URL it is CockroachDB: the cluster at CRDB_URL, or
// one in memory from the `cockroach` on PATH. CockroachDB has no templates. The migrations run
// once for each process, and each database gets the resulting tables in one transaction. Because
// that takes seconds, a later test gets an emptied database of an earlier one, unless the earlier
// test changed the schema or a statement still runs in the database.
//
// # Cleanup
//
// A killed test process takes its cluster down with it (package devdb), and the next process
// removes the files. Only on a user's own cluster, at CRDB_URL, do databases called carve_test_*
// stay after a test process was killed.
package dbtest
