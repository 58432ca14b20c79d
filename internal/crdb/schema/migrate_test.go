package schema_test

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/audit"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/migrations"
)

// schemaOf returns all tables, columns, constraints and indexes, and all regions.
func schemaOf(t *testing.T, dsn string) (found []string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer c.Close(context.Background())
	for _, sql := range []string{
		"SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable FROM information_schema.columns WHERE table_schema = 'public'",
		"SELECT table_name || ' ' || constraint_name || ' ' || constraint_type FROM information_schema.table_constraints WHERE table_schema = 'public' AND constraint_name NOT LIKE '%not_null'", // the names of NOT NULL constraints contain the number of the table
		"SELECT tablename || ' ' || indexname FROM pg_catalog.pg_indexes WHERE schemaname = 'public'",
		"SELECT 'region ' || e.enumlabel FROM pg_catalog.pg_enum AS e JOIN pg_catalog.pg_type AS t ON t.oid = e.enumtypid WHERE t.typname = 'crdb_internal_region'",
	} {
		rows, err := c.Query(t.Context(), sql+" ORDER BY 1")
		require.NoError(t, err)
		part, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		found = append(found, part...)
	}
	return found
}

func applied(t *testing.T, dsn string) []int64 {
	t.Helper()
	c, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer c.Close(context.Background())
	rows, err := c.Query(t.Context(), "SELECT version_id FROM goose_db_version WHERE version_id > 0 ORDER BY id")
	require.NoError(t, err)
	versions, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	require.NoError(t, err)
	return versions
}

// numbers returns the versions of the first n migrations.
func numbers(n int) (out []int64) {
	files, err := migrations.FS.ReadDir(".")
	if err != nil {
		panic(err) // embedded, so it cannot fail at run time
	}
	for _, f := range files[:n] {
		version, err := strconv.ParseInt(f.Name()[:4], 10, 64)
		if err != nil {
			panic(err)
		}
		out = append(out, version)
	}
	return out
}

func migrationCount(t *testing.T) int {
	t.Helper()
	files, err := migrations.FS.ReadDir(".")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return len(files)
}

func TestMigrateIsIdempotent(t *testing.T) {
	t.Parallel()
	dsn := dbtest.Empty(t)
	require.NoError(t, schema.Migrate(t.Context(), dsn, schema.MigrateOptions{Regions: []string{region}}))
	once := schemaOf(t, dsn)
	require.NotEmpty(t, once)
	require.Equal(t, numbers(migrationCount(t)), applied(t, dsn))
	require.NoError(t, schema.Migrate(t.Context(), dsn, schema.MigrateOptions{Regions: []string{region}}))
	require.Equal(t, once, schemaOf(t, dsn))
	require.Equal(t, numbers(migrationCount(t)), applied(t, dsn))
}

// Several servers start at the same time on an empty database. Each of them migrates, and each of them starts.
func TestConcurrentMigrationsSucceed(t *testing.T) {
	t.Parallel()
	dsn := dbtest.Empty(t)
	var wg sync.WaitGroup
	errs := make([]error, 4)
	start := make(chan struct{})
	for i := range errs {
		wg.Go(func() {
			<-start
			errs[i] = schema.Migrate(t.Context(), dsn, schema.MigrateOptions{Regions: []string{region}})
		})
	}
	close(start)
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.Equal(t, numbers(migrationCount(t)), applied(t, dsn), "each migration was applied once, in order")
	require.NoError(t, schema.Check(t.Context(), dsn))
}

// A process may die after a step and before its record, so the step is done but not recorded. The step may also be half done, if the database runs
// each statement of a message as a separate transaction.
func TestInterruptedMigrationIsResumed(t *testing.T) {
	t.Parallel()
	dsn := dbtest.Empty(t)
	require.NoError(t, schema.Migrate(t.Context(), dsn, schema.MigrateOptions{Regions: []string{region}}))
	whole := schemaOf(t, dsn)
	c, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	for _, version := range slices.Backward(numbers(migrationCount(t))) {
		_, err := c.Exec(t.Context(), "DELETE FROM goose_db_version WHERE version_id = $1", version)
		require.NoError(t, err)
		require.ErrorIs(t, schema.Check(t.Context(), dsn), schema.ErrBehind)
		for _, undone := range []string{"TABLE IF EXISTS compatibility", "TABLE IF EXISTS stocks", "INDEX IF EXISTS history_until_idx", "INDEX IF EXISTS pools_scoped_idx"} {
			_, err := c.Exec(t.Context(), "DROP "+undone)
			require.NoError(t, err)
		}
	}
	require.NoError(t, c.Close(t.Context()))
	require.NoError(t, schema.Migrate(t.Context(), dsn, schema.MigrateOptions{Regions: []string{region}}))
	require.Equal(t, whole, schemaOf(t, dsn))
	require.NoError(t, schema.Check(t.Context(), dsn))
}

func TestOutdatedSchemaIsReported(t *testing.T) {
	t.Parallel()
	dsn := dbtest.Empty(t)
	require.ErrorIs(t, schema.Check(t.Context(), dsn), schema.ErrBehind, "there is none")
	require.NoError(t, schema.Migrate(t.Context(), dsn, schema.MigrateOptions{Regions: []string{region}}))
	require.NoError(t, schema.Check(t.Context(), dsn))
	c, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	_, err = c.Exec(t.Context(), "DELETE FROM goose_db_version WHERE version_id = (SELECT max(version_id) FROM goose_db_version)")
	require.NoError(t, err)
	require.NoError(t, c.Close(t.Context()))
	require.ErrorIs(t, schema.Check(t.Context(), dsn), schema.ErrBehind, "the newest is missing")
}

// refusals returns the error of every function that takes a database URL.
func refusals(t *testing.T, dsn string) map[string]error {
	t.Helper()
	return map[string]error{
		"migrate": schema.Migrate(t.Context(), dsn, schema.MigrateOptions{Regions: []string{region}}),
		"schema":  schema.Check(t.Context(), dsn),
		"region":  schema.CheckRegion(t.Context(), dsn, region),
		"open":    second(crdb.Open(t.Context(), dsn, crdb.Options{})),
		"audit":   second(audit.Run(t.Context(), dsn)),
	}
}

func second[T any](_ T, err error) error { return err }

func TestUnreachableDatabaseIsAClearError(t *testing.T) {
	t.Parallel()
	for name, err := range refusals(t, "postgres://nobody:hunter2@127.0.0.1:1/none?connect_timeout=5") {
		require.Error(t, err, name)
		require.Regexp(t, "^cannot (connect to the database|read the schema's version): ", err.Error(), name)
		require.NotContains(t, err.Error(), "hunter2", name)
	}
}

func TestInvalidDatabaseURLIsAClearErrorWithoutThePassword(t *testing.T) {
	t.Parallel()
	for _, dsn := range []string{"://hunter2", "postgres://u:hunter2@127.0.0.1:1/x?sslmode=wrong", "postgres://u:hunter2@127.0.0.1:port/x"} {
		for name, err := range refusals(t, dsn) {
			require.ErrorContains(t, err, "the database URL is not valid", name)
			require.NotContains(t, err.Error(), "hunter2", name)
		}
	}
	err := second(crdb.Open(t.Context(), "postgres://u:hunter2@127.0.0.1:1/x?pool_max_conns=many", crdb.Options{}))
	require.ErrorContains(t, err, "not valid")
	require.NotContains(t, err.Error(), "hunter2")
}

// A killed migration leaves a lease, which expires later. A process that waits for the lease reports this.
func TestWaitForAMigrationLeaseIsReported(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	conn := dbtest.Connect(t, dsn, nil)
	_, err := conn.Exec(t.Context(), "UPDATE goose_lock SET locked = true, locked_by = 'a process that was killed', lease_expires_at = now() + INTERVAL '1 hour'")
	require.NoError(t, err)
	var said []string
	require.NoError(t, schema.Migrate(t.Context(), dsn, schema.MigrateOptions{Regions: []string{region}, Report: func(s string) {
		if said = append(said, s); len(said) == 1 { // the lease ends exactly after the first message, even if the database is slow
			_, err := conn.Exec(t.Context(), "UPDATE goose_lock SET lease_expires_at = now() - INTERVAL '1 second'")
			assert.NoError(t, err)
		}
	}}))
	require.NotEmpty(t, said)
	require.Contains(t, said[0], "waiting for the lease of another migration")
}
