package cli_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/devdb"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/migrations"
)

// The test checks the options that the command passes to a fake database.
func TestMigratePassesRegionFlags(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env  string
		args []string
		want schema.MigrateOptions
	}{
		"Nothing":       {want: schema.MigrateOptions{Regions: []string{"local"}}},
		"Region":        {env: "west", args: []string{"--region", "eu-west1"}, want: schema.MigrateOptions{Regions: []string{"eu-west1"}}},
		"Environment":   {env: "west", want: schema.MigrateOptions{Regions: []string{"west"}}},
		"Regions":       {env: "west", args: []string{"--regions", "us,eu,ap"}, want: schema.MigrateOptions{Regions: []string{"us", "eu", "ap"}}},
		"RegionsTwice":  {args: []string{"--regions", "us", "--regions", "eu"}, want: schema.MigrateOptions{Regions: []string{"us", "eu"}}},
		"SurvivingZone": {args: []string{"--regions", "us,eu,ap", "--survive", "zone"}, want: schema.MigrateOptions{Regions: []string{"us", "eu", "ap"}, Survive: "zone"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := answering(t)
			d.env["CARVE_REGION"] = c.env
			var got schema.MigrateOptions
			d.database.Migrate = func(_ context.Context, dsn string, o schema.MigrateOptions) error {
				require.Equal(t, "postgres://db/carve", dsn)
				o.Report("something was done")
				got, got.Report = o, nil
				return nil
			}
			r := d.done(append([]string{"migrate", "--database-url", "postgres://db/carve"}, c.args...)...)
			c.want.Roles = schema.RoleOptions{Mode: schema.RolesAuto}
			require.Equal(t, c.want, got)
			require.Equal(t, result{0, "", "something was done\nthe schema is up to date\n"}, r)
		})
	}
}

func TestMigrateRefusesRegionTogetherWithRegions(t *testing.T) {
	t.Parallel()
	d := answering(t)
	r := d.run("migrate", "--database-url", "postgres://db/carve", "--region", "a", "--regions", "a,b")
	require.Equal(t, 2, r.code)
	require.Contains(t, r.err, "region")
}

// allApplied returns the message for an empty database that gets all numbered files.
func allApplied(t *testing.T) string {
	t.Helper()
	files, err := migrations.FS.ReadDir(".")
	require.NoError(t, err)
	return fmt.Sprintf("applied migrations: %d, the last one is %s\n", len(files), files[len(files)-1].Name())
}

// rolesMade returns the message for a database that gets its roles.
func rolesMade(t *testing.T, dsn string) string {
	t.Helper()
	if dbtest.Engine() != devdb.Postgres {
		t.Skip("in PostgreSQL's order; this run is on", dbtest.Engine())
	}
	u, err := url.Parse(dsn)
	require.NoError(t, err)
	var made, may strings.Builder
	for _, role := range []string{"server", "retention", "reader"} {
		name := strings.TrimPrefix(u.Path, "/") + "_" + role
		made.WriteString("the role " + name + " was created\n")
		may.WriteString("the role " + name + " has its privileges\n")
	}
	return made.String() + may.String() + "PUBLIC may no longer create temporary tables\n"
}

// On PostgreSQL, the test extends a database from one region to three and checks the messages.
func TestMigrateAddsRegions(t *testing.T) {
	t.Parallel()
	if dbtest.Engine() != devdb.Postgres {
		t.Skip("about PostgreSQL; this run is on", dbtest.Engine())
	}
	d := operating(t)
	d.env["CARVE_DATABASE_URL"] = dbtest.New(t)
	require.Equal(t, "regions of the database: eu-west1\n"+allApplied(t)+rolesMade(t, d.env["CARVE_DATABASE_URL"])+"the schema is up to date\n", d.done("migrate", "--region", "eu-west1").err)
	require.Equal(t, "nothing to do\nthe schema is up to date\n", d.done("migrate", "--region", "eu-west1").err)
	three := []string{"migrate", "--regions", "eu-west1,us-east1,us-west1", "--survive", "zone"}
	const survive = "PostgreSQL stores all regions together: --survive zone has no effect\n"
	require.Equal(t, "the database has the region us-east1\nthe database has the region us-west1\n"+survive+"the schema is up to date\n", d.done(three...).err)
	require.Equal(t, survive+"nothing to do\nthe schema is up to date\n", d.done(three...).err)

	r := d.run("migrate", "--region", "eu-west1")
	require.Equal(t, result{1, "", "error: the regions do not fit the database: the database has \"us-east1\", and `ipamctl migrate` only adds regions; " +
		"list it too, --regions eu-west1,us-east1,us-west1\n"}, r)
	r = d.run("bootstrap", "--region", "mars")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.err, `has "eu-west1", "us-east1", "us-west1", and --region is "mars"`)
}
