package crdb_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/devdb"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/roletest"
)

// region is the region of all rows in the tests. dbtest starts CockroachDB with this region.
const region = "local"

func TestMain(m *testing.M) {
	dbtest.Main(m, dbtest.Config{Migrate: func(ctx context.Context, dsn string) error {
		o := schema.MigrateOptions{Regions: []string{region}}
		if dbtest.Engine() == devdb.Postgres {
			o.Roles = schema.RoleOptions{Mode: schema.RolesRequire, Prefix: roletest.Prefix}
		}
		return schema.Migrate(ctx, dsn, o)
	}})
}

// open opens a store on the database. The test closes the store at its end.
func open(t testing.TB, dsn string, options ...func(*crdb.Options)) *crdb.Store {
	t.Helper()
	o := crdb.Options{Region: region}
	for _, option := range options {
		option(&o)
	}
	s, err := crdb.Open(t.Context(), dsn, o)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}
