// Package dbtest gives every test its own database on the engine of the test run. The database is migrated and otherwise empty. It disappears when
// the test ends.
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
// The default engine is PostgreSQL. Each test process has one private cluster without fsync, which the first test starts. The migrations run once for
// each process, in a template database. Each test's database is a copy of the template.
//
// If CARVE_TEST_ENGINE=cockroach or CRDB_URL is set, the engine is CockroachDB. It is the cluster at CRDB_URL, or one node in memory that dbtest
// starts from the `cockroach` on PATH. CockroachDB has no templates. The migrations run once for each process, and each database gets the resulting
// tables in one transaction. Because that takes seconds, a later test reuses the emptied database of an earlier test. A database is not reused if its
// test changed the schema, or if a statement still runs in it.
//
// # Cleanup
//
// A killed test process takes its cluster down with it (package devdb), and the next process removes the files. On the cluster at CRDB_URL, the
// databases of a killed test process stay. Their names are carve_test_*.
package dbtest
