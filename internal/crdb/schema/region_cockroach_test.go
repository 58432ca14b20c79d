package schema

import (
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/testkit/pgscript"
)

var updateDialect = flag.Bool("update-dialect", false, "write testdata/cockroach.txt anew")

// altered returns the statements that changed the database or a locality.
func altered(server *pgscript.Server) (out []string) {
	for _, l := range server.Said() {
		if alterDatabase.MatchString(l.SQL) || alterLocality.MatchString(l.SQL) {
			out = append(out, l.SQL)
		}
	}
	return out
}

// belongs returns the locality of each table in a database with this number of regions.
func belongs(regions int) map[string]string {
	want := map[string]string{}
	for _, l := range Tables() {
		want[l.Name] = string(l.localityIn(regions))
	}
	return want
}

func names(recorded [][]any) (out []string) {
	for _, r := range recorded {
		out = append(out, r[0].(string))
	}
	return out
}

// nothingChanged requires that the server received only queries, and the statements for the lease.
func nothingChanged(t *testing.T, server *pgscript.Server) {
	t.Helper()
	said := server.Said()
	require.NotEmpty(t, said)
	for _, l := range said {
		if strings.HasPrefix(l.SQL, "INSERT INTO goose_lock ") || strings.HasPrefix(l.SQL, "UPDATE goose_lock ") {
			continue
		}
		require.Contains(t, []string{"SELECT", "begin", "commit"}, verb(l.SQL), "%s", l.SQL)
	}
}

func TestCockroachRegionsAreAddedInOrder(t *testing.T) {
	t.Parallel()
	c := newCluster("ap", "eu", "us")
	server := c.start(t)
	var said []string
	o := MigrateOptions{Regions: []string{"us", "eu", "ap"}, Survive: SurviveRegion, Report: func(s string) { said = append(said, s) }}
	require.NoError(t, Migrate(t.Context(), server.DSN(), o))
	did := altered(server)
	require.Equal(t, []string{
		`ALTER DATABASE "carve" SET PRIMARY REGION "us"`,
		`ALTER DATABASE "carve" ADD REGION IF NOT EXISTS "eu"`,
		`ALTER DATABASE "carve" ADD REGION IF NOT EXISTS "ap"`,
		`ALTER DATABASE "carve" SURVIVE REGION FAILURE`,
	}, did, "before the first table of ours, each of which is made in its place")
	require.Equal(t, belongs(3), c.tables)
	require.Equal(t, o.Regions, names(c.recorded))
	for i, r := range c.recorded {
		require.EqualValues(t, i, r[1])
	}
	require.Len(t, said, len(did)+1, "a sentence for each, and one for the numbered files")

	server.Forget()
	said = nil
	require.NoError(t, Migrate(t.Context(), server.DSN(), o))
	require.Equal(t, []string{"nothing to do"}, said)
	nothingChanged(t, server)
	o.Survive = ""
	require.NoError(t, Migrate(t.Context(), server.DSN(), o))
	nothingChanged(t, server) // without Survive, the goal does not change
	o.Survive = SurviveZone
	require.NoError(t, Migrate(t.Context(), server.DSN(), o))
	require.Equal(t, []string{`ALTER DATABASE "carve" SURVIVE ZONE FAILURE`}, altered(server))
}

// With one region, no write waits for the clocks of other regions. When the database gets its second region, the tables that all regions read become
// GLOBAL.
func TestCockroachGrowsFromOneRegionToThree(t *testing.T) {
	t.Parallel()
	c := newCluster("eu", "us", "ap")
	server := c.start(t)
	require.NoError(t, Migrate(t.Context(), server.DSN(), MigrateOptions{Regions: []string{"eu"}}))
	require.Equal(t, belongs(1), c.tables)
	require.NotContains(t, slices.Collect(maps.Values(c.tables)), string(Global))
	require.Equal(t, SurviveZone, c.goal)

	server.Forget()
	require.NoError(t, Migrate(t.Context(), server.DSN(), MigrateOptions{Regions: []string{"eu", "us"}}))
	require.Equal(t, `ALTER DATABASE "carve" ADD REGION IF NOT EXISTS "us"`, altered(server)[0])
	require.Equal(t, belongs(2), c.tables)
	for _, sql := range altered(server)[1:] {
		require.True(t, strings.HasSuffix(sql, " SET LOCALITY GLOBAL"), "no key is written anew: %s", sql)
	}

	server.Forget()
	require.NoError(t, Migrate(t.Context(), server.DSN(), MigrateOptions{Regions: []string{"eu", "us", "ap"}}))
	require.Equal(t, []string{`ALTER DATABASE "carve" ADD REGION IF NOT EXISTS "ap"`}, altered(server))
	require.Equal(t, []string{"eu", "us", "ap"}, names(c.recorded))
}

// A process dies at a statement that changes the database. The test tries each such statement. The next process finishes the work.
func TestInterruptedCockroachMigrationIsResumed(t *testing.T) {
	t.Parallel()
	o := MigrateOptions{Regions: []string{"us", "eu", "ap"}, Survive: SurviveRegion}
	for _, at := range []string{
		`ALTER DATABASE "carve" SET PRIMARY REGION`, `ALTER DATABASE "carve" ADD REGION IF NOT EXISTS "eu"`, `ALTER DATABASE "carve" ADD REGION IF NOT EXISTS "ap"`,
		`ALTER DATABASE "carve" SURVIVE`, "CREATE TABLE IF NOT EXISTS holds", `ALTER TABLE "holds" SET LOCALITY`, `ALTER TABLE "pools" SET LOCALITY`, "INSERT INTO regions",
	} {
		for name, r := range map[string]pgscript.Reply{"Refused": {Code: "55000"}, "Drained": {Code: "57P01", Fatal: true}, "Cut": {Cut: true}} {
			t.Run(strings.ReplaceAll(at, `"`, "")+"/"+name, func(t *testing.T) {
				t.Parallel()
				c := newCluster("ap", "eu", "us")
				server := c.start(t)
				if strings.HasPrefix(at, "ALTER TABLE") {
					require.NoError(t, Migrate(t.Context(), server.DSN(), o))
					c.forget()
				}
				c.fail[at] = r
				require.Error(t, Migrate(t.Context(), server.DSN(), o))
				require.NoError(t, Migrate(t.Context(), server.DSN(), o))
				require.Equal(t, belongs(3), c.tables)
				require.Equal(t, o.Regions, names(c.recorded))
				require.Equal(t, SurviveRegion, c.goal)
			})
		}
	}
}

func TestCockroachSerializationFailureIsRetried(t *testing.T) {
	t.Parallel()
	c := newCluster("eu", "us")
	server := c.start(t)
	c.fail[`ALTER DATABASE "carve" ADD REGION`] = pgscript.Reply{Code: "40001"}
	require.NoError(t, Migrate(t.Context(), server.DSN(), MigrateOptions{Regions: []string{"eu", "us"}}))
	require.Equal(t, []string{"eu", "us"}, c.regions)
	const add = `ALTER DATABASE "carve" ADD REGION IF NOT EXISTS "us"`
	require.Equal(t, []string{add, add}, altered(server)[1:3])
}

func TestInvalidCockroachRegionsAreRefusedBeforeAnyChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before []string // existing regions
		moved  string   // the new primary region
		o      MigrateOptions
		words  []string
	}{
		"NoNodeThere": {o: MigrateOptions{Regions: []string{"eu", "mars"}}, words: []string{`the cluster has no node in "mars"`, "--locality=region=mars", `"eu", "us", "ap"`}},
		"TwoDoNotSurviveARegion": {o: MigrateOptions{Regions: []string{"eu", "us"}, Survive: SurviveRegion},
			words: []string{"at least 3 regions, and the list has 2", "--survive zone"}},
		"TwoDoNotSurviveARegionLater": {before: []string{"eu", "us"}, o: MigrateOptions{Regions: []string{"eu", "us"}, Survive: SurviveRegion}, words: []string{"at least 3"}},
		"Fewer":                       {before: []string{"eu", "us", "ap"}, o: MigrateOptions{Regions: []string{"eu", "us"}}, words: []string{`has "ap"`, "--regions eu,us,ap"}},
		"AnotherOrder":                {before: []string{"us", "eu"}, o: MigrateOptions{Regions: []string{"eu", "us"}}, words: []string{`"us" as the primary one`, "--regions us,eu"}},
		"ThePrimaryWasMoved": {before: []string{"us", "eu"}, moved: "eu", o: MigrateOptions{Regions: []string{"us", "eu"}},
			words: []string{`primary region is "eu", and the list begins with "us"`, `ALTER DATABASE "carve" SET PRIMARY REGION "us"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c1 := newCluster("eu", "us", "ap")
			server := c1.start(t)
			if c.before != nil {
				require.NoError(t, Migrate(t.Context(), server.DSN(), MigrateOptions{Regions: c.before}))
			}
			if c.moved != "" {
				c1.primary = c.moved
			}
			server.Forget()
			err := Migrate(t.Context(), server.DSN(), c.o)
			require.ErrorIs(t, err, ErrRegion)
			for _, w := range c.words {
				require.ErrorContains(t, err, w)
			}
			for _, l := range server.Said() {
				require.Equal(t, "SELECT", verb(l.SQL), "only asked: %s", l.SQL)
			}
		})
	}
}

// A process has added regions, and has died before it recorded them. The requested list must contain these regions, with the primary region first.
func TestUnrecordedCockroachRegionsAreRecorded(t *testing.T) {
	t.Parallel()
	c := newCluster("ap", "eu", "us")
	server := c.start(t)
	o := MigrateOptions{Regions: []string{"us", "eu", "ap"}}
	require.NoError(t, Migrate(t.Context(), server.DSN(), o))
	c.recorded = nil
	require.ErrorContains(t, CheckRegion(t.Context(), server.DSN(), "eu"), "run `ipamctl migrate`")
	require.ErrorIs(t, Migrate(t.Context(), server.DSN(), MigrateOptions{Regions: []string{"us", "eu"}}), ErrRegion)
	require.ErrorIs(t, Migrate(t.Context(), server.DSN(), MigrateOptions{Regions: []string{"eu", "us", "ap"}}), ErrRegion)
	require.NoError(t, Migrate(t.Context(), server.DSN(), o))
	require.Equal(t, o.Regions, names(c.recorded))
}

func TestCockroachServerMustConnectToANodeOfItsRegion(t *testing.T) {
	t.Parallel()
	c := newCluster("eu", "us")
	server := c.start(t)
	require.NoError(t, Migrate(t.Context(), server.DSN(), MigrateOptions{Regions: []string{"eu", "us"}}))
	require.NoError(t, CheckRegion(t.Context(), server.DSN(), "eu"))
	err := CheckRegion(t.Context(), server.DSN(), "us")
	require.ErrorIs(t, err, ErrRegion)
	require.ErrorContains(t, err, `through a node in the region "eu", and --region is "us"; start with --region=eu, or with the --database-url of nodes in us`)
	err = CheckRegion(t.Context(), server.DSN(), "ap")
	require.ErrorIs(t, err, ErrRegion)
	require.ErrorContains(t, err, `has "eu", "us", and --region is "ap"`)
}

// testdata contains the statements that only CockroachDB runs. tools/sqlcheck parses these statements with CockroachDB's grammar. This test checks
// that Migrate sends no other statements, except the migration files.
func TestCockroachStatementsAreRecorded(t *testing.T) {
	t.Parallel()
	c := newCluster("ap", "eu", "us")
	server := c.start(t)
	for _, o := range []MigrateOptions{
		{Regions: []string{"us"}}, {Regions: []string{"us", "eu", "ap"}, Survive: SurviveRegion}, {Regions: []string{"us", "eu", "ap"}, Survive: SurviveZone, Roles: scriptRoles()},
	} {
		require.NoError(t, Migrate(t.Context(), server.DSN(), o))
	}
	require.NoError(t, CheckRegion(t.Context(), server.DSN(), "ap"))
	_, err := CheckUser(t.Context(), server.DSN(), ServerRole)
	require.NoError(t, err)
	said := map[string]bool{setPrimaryRegion(`a "database" of theirs`, "eu-1"): true,
		revokeTables("DELETE", name("audit_events"), "carve_server"): true, grantConnect("carve", "carve_server"): true, flat(askVersioned): true}
	for regions, create := range map[int]string{
		1: "CREATE TABLE IF NOT EXISTS projects (\n  id UUID\n);", 2: "CREATE TABLE IF NOT EXISTS grants (\n  id UUID\n);",
		3: "CREATE TABLE IF NOT EXISTS quota_shards (\n  region crdb_internal_region\n) WITH (fillfactor = 50);",
	} {
		said[strings.TrimSuffix(flat(withLocalities(create, regions)), ";")] = true // a CREATE TABLE of a migration file, with its locality
	}
	for _, table := range Tables() {
		for _, l := range []Locality{RegionalByRow, Global, RegionalByTable} {
			said[setLocality(table.Name, l)] = true // all three, because the list may change
		}
	}
	numbered := migrationTexts(t)
	for _, l := range server.Said() {
		if !numbered[l.SQL] {
			said[l.SQL] = true
		}
	}
	path := filepath.Join("testdata", "cockroach.txt")
	text := "-- Written by go test ./internal/crdb/schema -run CockroachStatementsAreRecorded -update-dialect, read by tools/sqlcheck.\n" +
		strings.Join(slices.Sorted(maps.Keys(said)), ";\n") + ";\n"
	if *updateDialect {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), text, "go test ./internal/crdb/schema -run CockroachStatementsAreRecorded -update-dialect, and make test-sql")
}

// migrationTexts returns the migration files in the form in which the server gets them. If one message contains a whole file, it returns the file.
// Otherwise it returns the single statements.
func migrationTexts(t *testing.T) map[string]bool {
	t.Helper()
	texts := map[string]bool{}
	for _, regions := range []int{1, 3} {
		files := cockroach{}.files(regions)
		found, err := fs.Glob(files, "*.sql")
		require.NoError(t, err)
		for _, f := range found {
			raw, err := fs.ReadFile(files, f)
			require.NoError(t, err)
			whole := uncommented(string(raw))
			for _, text := range append(strings.Split(whole, ";\n"), whole) {
				texts[strings.TrimRight(flat(text), "; ")] = true
			}
		}
	}
	return texts
}

func uncommented(sql string) string {
	lines := slices.DeleteFunc(strings.Split(sql, "\n"), func(line string) bool { return strings.HasPrefix(line, "--") })
	return strings.Join(lines, "\n")
}
