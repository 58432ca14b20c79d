package e2e

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/devdb"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/pgfault"
)

// far lists two more regions, for tests with several regions.
var far = []string{"east", "west"}

// inRegions makes a database of three regions.
func inRegions(t *testing.T) (dsn string) {
	t.Helper()
	if dbtest.Engine() != devdb.Postgres {
		t.Skip("about PostgreSQL, where regions are names; this run is on", dbtest.Engine())
	}
	dsn = database(t)
	require.NoError(t, schema.Migrate(t.Context(), dsn, schema.MigrateOptions{Regions: append([]string{region}, far...)}))
	return dsn
}

// startIn starts a server in a region and returns a caller for it.
func startIn(t *testing.T, in, dsn string) (*process, *caller) {
	t.Helper()
	p := startProcess(t, serverBinary(t), nil, "--region="+in, "--database-url="+dsn, "--max-connections=4", "--request-timeout=60s")
	c := newCaller(p.Addr())
	c.outages = true
	return p, c
}

// statements executes SQL directly on the database.
func statements(t *testing.T, dsn string, all ...string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close(context.WithoutCancel(t.Context()))) }()
	for _, sql := range all {
		_, err = c.Exec(t.Context(), sql)
		require.NoError(t, err, sql)
	}
}

// epochsOf returns the epochs of each pool in each region.
func epochsOf(t *testing.T, dsn string) (all []string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close(context.WithoutCancel(t.Context()))) }()
	rows, err := c.Query(t.Context(), "SELECT epoch::TEXT FROM pool_regions")
	require.NoError(t, err)
	all, err = pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return all
}

// sessionsOf returns the number of sessions that servers have in a database. A session ends a moment after its connection.
func sessionsOf(t *testing.T, dsn string) (n int) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close(context.WithoutCancel(t.Context()))) }()
	const sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'carve'"
	require.NoError(t, c.QueryRow(t.Context(), sql).Scan(&n))
	return n
}

// A pool of three regions is backed up under load, continues, and is restored. One server is cut off from the database all the time. When it returns,
// its cache is from after the backup. This stale cache must change nothing in the restored data.
func TestRestoredPoolIgnoresAServersStaleCache(t *testing.T) {
	t.Parallel()
	dsn := inRegions(t)
	ops, dir := newOperator(t, dsn), filepath.Join(t.TempDir(), "backup")
	proxy, err := pgfault.Start(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(proxy.Close)
	home, atHome := startIn(t, region, dsn)
	_, inEast := startIn(t, "east", proxy.DSN())
	west, inWest := startIn(t, "west", dsn)
	atHome.created(t, atHome.do(t, http.MethodPost, "/v1/projects", obj{"metadata": obj{"name": project}}))
	atHome.pool(t, "wide", obj{"cidr": "10.0.0.0/21", "regions": []string{region, "east", "west"}})
	callers := map[string]*caller{region: atHome, "east": inEast, "west": inWest}
	kept := map[string]string{}
	for in, c := range callers {
		kept["kept-"+in] = c.claim(t, "kept-"+in, from("wide", 28)).Status.AllocatedCIDR
	}
	code, _, said := ops.run(t, "backup", "--to", dir)
	require.Zero(t, code, said)
	then := epochsOf(t, dsn)
	require.Len(t, then, 3)
	for in, c := range callers { // each claims more than its region's share, so the regions borrow
		for n := range 8 {
			c.claim(t, fmt.Sprintf("late-%s-%d", in, n), from("wide", 28))
		}
	}
	inWest.release(t, "kept-west")

	code, _, said = ops.run(t, "restore", "--from", dir, "--replace")
	require.Equal(t, 4, code)
	require.Contains(t, said, "a server is running on the database")
	require.NoError(t, home.Stop())
	require.NoError(t, west.Stop())
	proxy.SetRules(pgfault.ConnectRefused("57P03"))
	proxy.Sever()
	require.True(t, became(t.Context(), waitLimit, func() bool { return sessionsOf(t, dsn) == 0 }), "the database ends the servers' sessions")
	late := epochsOf(t, dsn)
	code, out, said := ops.run(t, "restore", "--from", dir, "--replace")
	require.Zero(t, code, said)
	require.Contains(t, out, "audit clean")
	require.Contains(t, said, "new epochs: 3")
	now := epochsOf(t, dsn)
	require.Len(t, now, 3)
	for _, e := range now {
		require.NotContains(t, then, e)
		require.NotContains(t, late, e)
	}

	proxy.SetRules() // the server in east can reach the database again, and does not know of the restore
	_, callers[region] = startIn(t, region, dsn)
	_, callers["west"] = startIn(t, "west", dsn)
	require.Eventually(t, func() bool { return inEast.do(t, http.MethodGet, "/readyz", nil).status == http.StatusOK }, waitLimit, tick)
	inEast.refused(t, inEast.do(t, http.MethodDelete, at("claims", "late-east-7"), nil), "not_found")
	for name, block := range kept {
		for _, c := range callers {
			a := c.ok(t, c.do(t, http.MethodGet, at("claims", name), nil))
			require.Equal(t, block, decode[client.IPClaim](t, a).Status.AllocatedCIDR)
		}
	}
	held := fill(t, callers)
	for _, block := range kept {
		require.NotContains(t, held, block)
	}
	require.Len(t, held, 128-len(kept), "all that is left of the pool is given out, each block once")
}

// fill claims the rest of a pool from all its regions concurrently. It returns the holder of each block.
func fill(t *testing.T, callers map[string]*caller) (holder map[string]string) {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	holder = map[string]string{}
	for in, c := range callers {
		wg.Go(func() {
			for n := 0; ; n++ {
				name := fmt.Sprintf("again-%s-%d", in, n)
				a := c.postClaim(t, name, from("wide", 28))
				if a.status == http.StatusConflict {
					c.refused(t, a, "pool_exhausted")
					return
				}
				block := decode[client.IPClaim](t, c.created(t, a)).Status.AllocatedCIDR
				mu.Lock()
				if other, taken := holder[block]; taken {
					t.Errorf("%s is given to %s and to %s", block, other, name)
				}
				holder[block] = name
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return holder
}

// The rows of one region are restored without the rows of the other regions. This region must refuse the requests that it cannot decide, and the
// other regions must continue. Then `ipamctl region reconcile` opens the region again while all servers run.
func TestRegionRestoredAloneStaysClosedUntilReconciled(t *testing.T) {
	t.Parallel()
	dsn := inRegions(t)
	ops := newOperator(t, dsn)
	_, atHome := startIn(t, region, dsn)
	_, inEast := startIn(t, "east", dsn)
	atHome.created(t, atHome.do(t, http.MethodPost, "/v1/projects", obj{"metadata": obj{"name": project}}))
	atHome.pool(t, "wide", obj{"cidr": "10.0.0.0/20", "regions": []string{region, "east"}})
	inEast.pool(t, "alone", obj{"cidr": "10.1.0.0/20", "region": "east"})
	inEast.claim(t, "first", from("wide", 28))

	own := []string{"free_blocks", "fences", "holds", "stocks", "idempotency_keys"}
	for _, table := range own {
		statements(t, dsn, "CREATE TABLE kept_"+table+" AS SELECT * FROM "+table+" WHERE region = 'east'")
	}
	inEast.claim(t, "lost", from("wide", 22)) // larger than the rest of the first loan, part of which is held, so the region borrows another block
	for _, table := range own {
		statements(t, dsn, "DELETE FROM "+table+" WHERE region = 'east'", "INSERT INTO "+table+" SELECT * FROM kept_"+table, "DROP TABLE kept_"+table)
	}

	refused := inEast.postClaim(t, "next", from("wide", 28))
	inEast.refused(t, refused, "unavailable")
	require.Equal(t, http.StatusServiceUnavailable, refused.status)
	require.Equal(t, "10", refused.header.Get("Retry-After"))
	inEast.refused(t, inEast.do(t, http.MethodDelete, at("claims", "first"), nil), "unavailable")
	inEast.ok(t, inEast.do(t, http.MethodGet, at("claims", "first"), nil)) // the region still serves reads of existing objects
	inEast.claim(t, "beside", from("alone", 28))                           // other pools must not be affected
	atHome.claim(t, "at-home", from("wide", 28))
	code, out, _ := ops.run(t, "audit")
	require.Equal(t, 1, code)
	require.Contains(t, out, "of another time than the record")

	code, out, _ = ops.run(t, "region", "reconcile", "--region", region)
	require.Zero(t, code, out)
	code, out, _ = ops.run(t, "region", "reconcile", "--region", "east")
	require.Equal(t, 1, code, "it only looks")
	require.Contains(t, out, "MISSING")
	inEast.refused(t, inEast.postClaim(t, "next", from("wide", 28)), "unavailable")
	code, out, said := ops.run(t, "region", "reconcile", "--region", "east", "--repair")
	require.Zero(t, code, out+said)
	inEast.claim(t, "next", from("wide", 28))
	inEast.release(t, "first")
	auditClean(t, dsn)
}
