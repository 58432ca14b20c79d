package crdb_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// A claim reads the quotas of its own project, one shard of each quota, and one grant. It finds all of them by key, so grants and quotas of other
// projects cost nothing. If the project has no quotas and owns the pool, the claim reads no row of these tables.
func TestClaimReadsOnlyItsQuotasAndGrant(t *testing.T) {
	t.Parallel()
	m, h := newMeter(t)
	for _, name := range []string{"none", "some", "tenant"} {
		newProject(t, h, name)
		own := rootPool("pool", "10.0.0.0/16")
		own.Spec.Visibility = ipam.VisibilityShared
		_, err := h.svc.CreatePool(admin(t), name, own, usecase.Request{})
		require.NoError(t, err)
	}
	exec := func(sql string) {
		t.Helper()
		_, err := m.conn.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	const pool = "(SELECT p.id FROM pools AS p JOIN projects AS o ON o.id = p.project_id WHERE o.name = 'none')"
	exec("INSERT INTO grants SELECT gen_random_uuid(), 'pool', " + pool + ", 'consumer-' || i, 1, gen_random_uuid(), now(), now(), 'filler' FROM generate_series(1, 5000) AS i")
	exec("INSERT INTO projects SELECT md5('p' || i)::UUID, 'filler-' || i, '', '', NULL, '{}', '{}', 1, gen_random_uuid(), now(), now(), 'filler' FROM generate_series(1, 500) AS i")
	exec("INSERT INTO quotas SELECT md5('q' || i)::UUID, md5('p' || i)::UUID, 'all', 'platform', '', '', '', '', 0, NULL, 9, NULL, false, '', 1, gen_random_uuid(), now(), now(), 'filler' FROM generate_series(1, 500) AS i")
	exec("INSERT INTO quota_shards SELECT 'local', md5('q' || i)::UUID, n, 0, 0, 0, 0, 0, 0 FROM generate_series(1, 500) AS i, generate_series(0, 15) AS n")
	for i := range 3 {
		q := quotaOf(1000)
		q.Name = fmt.Sprint("q-", i)
		_, err := h.svc.PutQuota(admin(t), "some", q, usecase.Request{})
		require.NoError(t, err)
	}
	_, err := h.svc.PutPoolGrant(admin(t), "none", "pool", "tenant", usecase.Request{})
	require.NoError(t, err)
	exec("VACUUM ANALYZE")
	for _, c := range []struct {
		project, of string
		want        map[string]int64 // number of rows read or written, by table
	}{
		{"none", "none", map[string]int64{}},
		{"some", "some", map[string]int64{"quotas": 3, "quota_shards": 9}}, // the rows are read, read again before the write, and written
		{"tenant", "none", map[string]int64{"grants": 2}},                  // read before the transaction, and again in it
	} {
		cost := m.of(t, func(ctx context.Context, svc *alloc.Service) {
			_, err := svc.CreateClaim(ctx, c.project, claimOf("claim-"+c.project, c.of, "pool", 32), usecase.Request{})
			require.NoError(t, err)
		})
		require.Zero(t, cost.scans)
		got := map[string]int64{}
		for _, table := range []string{"quotas", "quota_shards", "grants", "members", "api_keys", "history"} {
			if n := cost.rows[table]; n != 0 {
				got[table] = n
			}
		}
		require.Equal(t, c.want, got, "%s of %s: %v", c.project, c.of, cost.statements)
	}
}
