package crdb_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/migrations"
)

// beforeClasses is the last migration of the schema that knew no classes.
const beforeClasses = "0018_pools_address_idx.sql"

// What was stored before there were classes reads as what it was: served by none, reclaimed as its spec says, and free at once.
func TestWhatWasStoredBeforeThereWereClassesIsServedByNone(t *testing.T) {
	t.Parallel()
	onPostgres(t)
	dsn := emptyDatabase(t)
	c := connect(t, dsn, nil)
	exec := func(sql string) {
		t.Helper()
		_, err := c.Exec(t.Context(), sql)
		require.NoError(t, err, sql)
	}
	exec("CREATE TYPE crdb_internal_region AS ENUM ('local')")
	files, err := migrations.FS.ReadDir(".")
	require.NoError(t, err)
	for _, f := range files {
		if f.Name() <= beforeClasses {
			text, err := migrations.FS.ReadFile(f.Name())
			require.NoError(t, err)
			exec(string(text))
		}
	}
	const project, pool, kept = "'00000000-0000-4000-8000-000000000001'", "'00000000-0000-4000-8000-000000000002'", "'00000000-0000-4000-8000-000000000003'"
	const space = "'00000000-0000-4000-8000-000000000004'"
	const meta = "'{}', '{}', 1, gen_random_uuid(), now(), now(), 'somebody'"
	exec("INSERT INTO projects VALUES (" + project + ", 'platform', '', '', " + meta + ")")
	exec("INSERT INTO spaces VALUES (" + space + ", " + project + ", 'default', gen_random_uuid(), gen_random_uuid(), 'local', '', " + meta + ")")
	exec("INSERT INTO pools VALUES (" + pool + ", " + project + ", 'pool', 'local', " + space + ", 'platform', 'default', gen_random_uuid(), " + project +
		", '', '', 4, '\\x0a000000', 24, true, 'consumer', 'BestFit', NULL, NULL, NULL, '[]', '', " + meta + ")")
	exec("INSERT INTO claims VALUES ('local', " + project + ", 'claim', gen_random_uuid(), " + pool + ", " + project + ", 'platform', 'pool', '\\x0a000000', 28, " + kept + ", " +
		`'{"poolRef": {"project": "platform", "name": "pool"}, "reclaimPolicy": "Retain"}', ` + meta + ")")
	exec("INSERT INTO allocations VALUES ('local', " + project + ", " + pool + ", '\\x0a000010', 28, " + kept + ", 'Claim', 'Retained', 'platform', 'pool', " + project +
		", 'platform', 'gone', 'Retain', NULL, '', now(), gen_random_uuid(), now(), now(), 'somebody')")
	exec("INSERT INTO quotas VALUES (gen_random_uuid(), " + project + ", 'all', '', '', 0, NULL, 5, NULL, false, '', 1, gen_random_uuid(), now(), now(), 'somebody')")

	require.NoError(t, crdb.Migrate(t.Context(), dsn, crdb.MigrateOptions{Regions: []string{region}}))
	require.NoError(t, crdb.CheckSchema(t.Context(), dsn))
	store := open(t, dsn)
	p, err := store.ProjectGet(t.Context(), "platform")
	require.NoError(t, err)
	key := ipam.ProjectKey{ID: p.UID, Name: p.Name}
	claim, err := store.ClaimGet(t.Context(), key, "claim")
	require.NoError(t, err)
	require.Equal(t, ipam.ReclaimRetain, claim.ReclaimPolicy)
	require.True(t, claim.Class.IsZero())
	require.Zero(t, claim.ReuseAfter)
	found, err := store.PoolGet(t.Context(), key, "pool")
	require.NoError(t, err)
	require.Nil(t, found.Classes)
	require.Nil(t, found.Spec.ClassNames)
	require.Nil(t, found.Spec.ReuseAfter)
	require.Nil(t, found.Scope)
	require.Zero(t, found.EmptySince)
	a, err := store.AllocationGet(t.Context(), key, ipam.ID{6: 0x40, 8: 0x80, 15: 3})
	require.NoError(t, err)
	require.Equal(t, ipam.PhaseRetained, a.Phase)
	require.Zero(t, a.CoolUntil)
	quota, err := store.QuotaGet(t.Context(), key, "all")
	require.NoError(t, err)
	require.Zero(t, quota.Spec.Scope)
}
