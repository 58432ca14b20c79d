package schema

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Since CockroachDB 26.1, a new table is schema-locked unless the session forbids it. SET LOCALITY fails on such a table.
func TestCockroachWithSchemaLockedTablesIsMigrated(t *testing.T) {
	t.Parallel()
	for name, regions := range map[string][]string{"OneRegion": {"eu"}, "ThreeRegions": {"eu", "us", "ap"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster("ap", "eu", "us")
			c.locking = true
			server := c.start(t)
			require.NoError(t, Migrate(t.Context(), server.DSN(), MigrateOptions{Regions: regions}))
			require.Equal(t, belongs(len(regions)), c.tables)
			server.Forget()
			require.NoError(t, Migrate(t.Context(), server.DSN(), MigrateOptions{Regions: regions}))
			require.Empty(t, altered(server))
		})
	}
}

// An earlier version created locked tables and failed at the first SET LOCALITY. Another program can also lock a table, for a changefeed.
func TestCockroachLockedTablesAreUnlockedForAChange(t *testing.T) {
	t.Parallel()
	c := newCluster("eu", "us")
	server := c.start(t)
	require.NoError(t, Migrate(t.Context(), server.DSN(), MigrateOptions{Regions: []string{"eu"}}))
	for _, table := range []string{"pools", "holds", "somebody_elses"} {
		c.locked[table] = true
	}
	server.Forget()
	require.NoError(t, Migrate(t.Context(), server.DSN(), MigrateOptions{Regions: []string{"eu"}}))
	for _, l := range server.Said() {
		require.NotRegexp(t, schemaLocked, l.SQL, "a lock is in nobody's way before there is something to change")
	}

	require.NoError(t, Migrate(t.Context(), server.DSN(), MigrateOptions{Regions: []string{"eu", "us"}}))
	require.Equal(t, belongs(2), c.tables)
	require.True(t, c.locked["pools"] && c.locked["holds"], "locked again")
	for _, l := range server.Said() {
		require.NotContains(t, l.SQL, "somebody_elses", "not ours: %s", l.SQL)
	}
}

// A process may die before or after each statement that changes the database. It may also die before it records the step. The next process continues.
func TestCockroachMigrationResumesAfterEveryStatement(t *testing.T) {
	t.Parallel()
	for name, is := range map[string]struct {
		locking, older bool
		statements     int
	}{"LocksNewTables": {locking: true, statements: 25}, "DoesNot": {statements: 25}, "HasTablesWithoutAPlace": {older: true, statements: 35}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster("ap", "eu", "us")
			c.locking = is.locking
			server := c.start(t)
			if is.older {
				require.NoError(t, Migrate(t.Context(), server.DSN(), MigrateOptions{Regions: []string{"us"}}))
				c.forget()
			}
			c.killer = &Killer{}
			o := MigrateOptions{Regions: []string{"us", "eu", "ap"}, Survive: SurviveRegion, Roles: scriptRoles()}
			var err error
			for dead := 0; ; dead++ {
				require.LessOrEqual(t, dead, 1000, "it gets no further: %v", err)
				if err = Migrate(t.Context(), server.DSN(), o); err == nil {
					break
				}
			}
			require.Greater(t, c.killer.Statements(), is.statements)
			require.Equal(t, belongs(3), c.tables)
			require.Equal(t, o.Regions, names(c.recorded))
			require.Equal(t, SurviveRegion, c.goal)
			server.Forget()
			require.NoError(t, Migrate(t.Context(), server.DSN(), o))
			nothingChanged(t, server)
		})
	}
}
