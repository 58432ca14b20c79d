// Package dbtest gives every test a database of its own: empty but for the
// migrations, on the engine that the run is about, gone when the test ends.
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
// PostgreSQL unless the environment says otherwise: one private cluster for each
// test process, started by the first test that asks, without fsync. The
// migrations run once a process, in a template of which each test's database is a copy.
//
// With CARVE_TEST_ENGINE=cockroach it is CockroachDB: the cluster at CRDB_URL, or
// else one in memory from the `cockroach` on PATH. CockroachDB has no templates: there
// the migrations run once a process, too, and a database gets the tables that they made in one
// transaction. That takes seconds, so a database that a test has left is emptied and given to another one, unless its schema was changed or
// something goes on in it. CRDB_URL alone means the same.
//
// # What is left behind
//
// Nothing. A test process that is killed takes its cluster down with it
// (package devdb), and the next one removes the files. Only on a cluster of the user's own, at
// CRDB_URL, do databases called carve_test_* stay when a test process is killed.
package dbtest
