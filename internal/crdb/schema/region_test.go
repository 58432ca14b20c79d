package schema_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/migrations"
)

func options(regions ...string) schema.MigrateOptions { return schema.MigrateOptions{Regions: regions} }

// written returns the recorded regions, each as its ordinal and name. It also returns the values of the region type, in order.
func written(t *testing.T, dsn string) (rows []string, values []string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer c.Close(context.Background())
	collect := func(sql string) []string {
		found, err := c.Query(t.Context(), sql)
		require.NoError(t, err)
		out, err := pgx.CollectRows(found, pgx.RowTo[string])
		require.NoError(t, err)
		return out
	}
	return collect("SELECT ordinal::TEXT || ' ' || name::TEXT FROM regions ORDER BY ordinal"),
		collect("SELECT unnest(enum_range(NULL::crdb_internal_region))::TEXT")
}

// allApplied returns the message of a migration that applies all files to an empty database.
func allApplied(t *testing.T) string {
	t.Helper()
	files, err := migrations.FS.ReadDir(".")
	require.NoError(t, err)
	return fmt.Sprintf("applied migrations: %d, the last one is %s", len(files), files[len(files)-1].Name())
}

func TestRegionsAreRecordedInOrder(t *testing.T) {
	t.Parallel()
	dbtest.OnPostgres(t) // a CockroachDB cluster needs nodes in these regions: see cluster_test.go
	dsn := dbtest.Empty(t)
	var said []string
	o := options("us-west", "eu-1", "ap")
	o.Survive, o.Report = schema.SurviveRegion, func(s string) { said = append(said, s) }
	require.NoError(t, schema.Migrate(t.Context(), dsn, o))
	rows, values := written(t, dsn)
	require.Equal(t, []string{"0 us-west", "1 eu-1", "2 ap"}, rows)
	require.Equal(t, o.Regions, values)
	const survive = "PostgreSQL stores all regions together: --survive region has no effect"
	require.Equal(t, []string{"regions of the database: us-west, eu-1, ap", survive, allApplied(t)}, said)
	said = nil
	require.NoError(t, schema.Migrate(t.Context(), dsn, o))
	require.Equal(t, []string{survive, "nothing to do"}, said)
	for _, r := range o.Regions {
		require.NoError(t, schema.CheckRegion(t.Context(), dsn, r), "each of them is served")
	}
}

func TestRegionIsAddedLaterAndOnlyOnce(t *testing.T) {
	t.Parallel()
	dbtest.OnPostgres(t)
	dsn := dbtest.Empty(t)
	require.NoError(t, schema.Migrate(t.Context(), dsn, options("west")))
	require.ErrorIs(t, schema.CheckRegion(t.Context(), dsn, "east"), schema.ErrRegion)
	for range 2 {
		require.NoError(t, schema.Migrate(t.Context(), dsn, options("west", "east", "north")))
		rows, values := written(t, dsn)
		require.Equal(t, []string{"0 west", "1 east", "2 north"}, rows)
		require.Equal(t, []string{"west", "east", "north"}, values)
	}
	require.NoError(t, schema.CheckRegion(t.Context(), dsn, "east"))
	c := dbtest.Connect(t, dsn, nil)
	_, err := c.Exec(t.Context(), `INSERT INTO free_blocks (region, container_id, host_bits, base) VALUES ('north', gen_random_uuid(), 8, '\x0a000000')`)
	require.NoError(t, err, "rows can live there")
}

// Several operators or servers start at the same time. First the database is empty, and then it gets more regions.
func TestConcurrentMigrationsAddRegionsOnce(t *testing.T) {
	t.Parallel()
	dbtest.OnPostgres(t)
	dsn := dbtest.Empty(t)
	for _, regions := range [][]string{{"a", "b"}, {"a", "b", "c", "d"}} {
		var wg sync.WaitGroup
		errs := make([]error, 4)
		begin := make(chan struct{})
		for i := range errs {
			wg.Go(func() {
				<-begin
				errs[i] = schema.Migrate(t.Context(), dsn, options(regions...))
			})
		}
		close(begin)
		wg.Wait()
		for _, err := range errs {
			require.NoError(t, err)
		}
		rows, values := written(t, dsn)
		require.Equal(t, regions, values)
		require.Len(t, rows, len(regions))
		for i, r := range regions {
			require.True(t, strings.HasSuffix(rows[i], " "+r))
		}
	}
	require.Equal(t, numbers(migrationCount(t)), applied(t, dsn))
}

// Two migrations add different regions at the same time. One succeeds, and the other is refused.
func TestConcurrentMigrationsWithDifferentRegionsAdmitOne(t *testing.T) {
	t.Parallel()
	dbtest.OnPostgres(t)
	dsn := dbtest.Empty(t)
	require.NoError(t, schema.Migrate(t.Context(), dsn, options("a")))
	var wg sync.WaitGroup
	var errs [2]error
	begin := make(chan struct{})
	for i, other := range []string{"b", "c"} {
		wg.Go(func() {
			<-begin
			errs[i] = schema.Migrate(t.Context(), dsn, options("a", other))
		})
	}
	close(begin)
	wg.Wait()
	won := slices.Index(errs[:], nil)
	require.GreaterOrEqual(t, won, 0)
	require.ErrorIs(t, errs[1-won], schema.ErrRegion)
	rows, values := written(t, dsn)
	require.Equal(t, []string{"a", []string{"b", "c"}[won]}, values)
	require.Len(t, rows, 2)
}

// A process may die after it has added regions and before it has recorded them.
func TestMissingRegionRecordIsRepaired(t *testing.T) {
	t.Parallel()
	dbtest.OnPostgres(t)
	dsn := dbtest.Empty(t)
	require.NoError(t, schema.Migrate(t.Context(), dsn, options("b", "a")))
	c := dbtest.Connect(t, dsn, nil)
	_, err := c.Exec(t.Context(), "DELETE FROM regions")
	require.NoError(t, err)
	require.ErrorContains(t, schema.CheckRegion(t.Context(), dsn, "a"), "run `ipamctl migrate`")
	require.ErrorIs(t, schema.Migrate(t.Context(), dsn, options("a", "b")), schema.ErrRegion, "the type still knows their order")
	require.ErrorIs(t, schema.Migrate(t.Context(), dsn, options("b")), schema.ErrRegion)
	require.NoError(t, schema.Migrate(t.Context(), dsn, options("b", "a", "c")))
	rows, _ := written(t, dsn)
	require.Equal(t, []string{"0 b", "1 a", "2 c"}, rows)

	// If someone deletes a region's record, the region does not exist any more. A later region gets a new ordinal.
	_, err = c.Exec(t.Context(), "DELETE FROM regions WHERE name = 'a'")
	require.NoError(t, err)
	require.ErrorIs(t, schema.CheckRegion(t.Context(), dsn, "a"), schema.ErrRegion)
	require.ErrorIs(t, schema.Migrate(t.Context(), dsn, options("b", "a", "c")), schema.ErrRegion)
	require.NoError(t, schema.Migrate(t.Context(), dsn, options("b", "c", "d")))
	rows, _ = written(t, dsn)
	require.Equal(t, []string{"0 b", "2 c", "3 d"}, rows)
}

func TestInvalidRegionsAreRefusedBeforeAnyChange(t *testing.T) {
	t.Parallel()
	dbtest.OnPostgres(t)
	dsn := dbtest.Empty(t)
	for name, c := range map[string]struct {
		o     schema.MigrateOptions
		words string
	}{
		"NoRegion":   {options(), "at least one"},
		"NoName":     {options("a", ""), "not a DNS label"},
		"BadName":    {options("Eu_West"), `"Eu_West" is not a DNS label`},
		"Apostrophe": {options("o'brien"), "not a DNS label"},
		"Twice":      {options("a", "b", "a"), `"a" is listed twice`},
		"Survive":    {schema.MigrateOptions{Regions: []string{"a"}, Survive: "planet"}, `not of a "planet"`},
	} {
		err := schema.Migrate(t.Context(), dsn, c.o)
		require.ErrorIs(t, err, schema.ErrRegion, name)
		require.ErrorContains(t, err, c.words, name)
	}
	require.Empty(t, schemaOf(t, dsn), "not even a table for the lease")

	require.NoError(t, schema.Migrate(t.Context(), dsn, options("a", "b", "c")))
	before := schemaOf(t, dsn)
	for name, c := range map[string]struct {
		regions []string
		words   string
	}{
		"Fewer":             {[]string{"a", "b"}, `the database has "c", and ` + "`ipamctl migrate`" + ` only adds regions; list it too, --regions a,b,c`},
		"FewerAndMore":      {[]string{"a", "c", "d"}, "--regions a,b,c,d"},
		"AnotherOrder":      {[]string{"a", "c", "b"}, "--regions a,b,c"},
		"AnotherPrimary":    {[]string{"b", "a", "c"}, `with "a" as the primary one`},
		"InFront":           {[]string{"d", "a", "b", "c"}, "--regions a,b,c,d"},
		"Between":           {[]string{"a", "d", "b", "c"}, "--regions a,b,c,d"},
		"AnotherAltogether": {[]string{"z"}, "--regions a,b,c,z"},
	} {
		err := schema.Migrate(t.Context(), dsn, options(c.regions...))
		require.ErrorIs(t, err, schema.ErrRegion, name)
		require.ErrorContains(t, err, c.words, name)
	}
	err := schema.CheckRegion(t.Context(), dsn, "z")
	require.ErrorIs(t, err, schema.ErrRegion)
	require.ErrorContains(t, err, `the database has "a", "b", "c", and --region is "z"`)
	require.ErrorContains(t, err, "ipamctl migrate --regions a,b,c,z")
	require.Equal(t, before, schemaOf(t, dsn))
}
