package schema_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/devdb"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/pgfault"
)

// A process may die before or after each statement that changes the database. It may also die before it records the step. The next process continues,
// and the schema equals the schema of a process without interruption.
func TestMigrateResumesAfterEveryStatement(t *testing.T) {
	t.Parallel()
	o := options(region)
	if dbtest.Engine() == devdb.Postgres {
		o = options(region, "second", "third") // CockroachDB needs nodes in these regions
	}
	whole := dbtest.Empty(t)
	require.NoError(t, schema.Migrate(t.Context(), whole, o))
	dsn := dbtest.Empty(t)
	killer := &schema.Killer{}
	proxy, err := pgfault.Start(t.Context(), dsn, pgfault.Fault(func(e pgfault.Event) pgfault.Action {
		if !e.Executes() {
			return pgfault.Action{}
		}
		before, after := killer.Strikes(e.SQL)
		if before || after {
			return pgfault.Action{Name: "killed", Drop: before, Answer: pgfault.Nothing}
		}
		return pgfault.Action{}
	}))
	require.NoError(t, err)
	t.Cleanup(proxy.Close)
	for dead := 0; ; dead++ {
		require.LessOrEqual(t, dead, 1000, "it gets no further: %v", err)
		if err = schema.Migrate(t.Context(), proxy.DSN(), o); err == nil {
			break
		}
		require.NotContains(t, strings.ToLower(err.Error()), "already exists")
	}
	require.GreaterOrEqual(t, killer.Statements(), 5, "the type of the regions, the table of versions, the schema, its version, and the regions")
	require.Equal(t, schemaOf(t, whole), schemaOf(t, dsn))
	require.Equal(t, numbers(migrationCount(t)), applied(t, dsn))
	require.NoError(t, schema.Check(t.Context(), dsn))
}
