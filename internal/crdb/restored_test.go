package crdb_test

import (
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/audit"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// epochs returns the two epochs of every pool, by the pool's name. An epoch is a version that two tables contain.
func epochs(t *testing.T, c *pgx.Conn) map[string][2]string {
	t.Helper()
	rows, err := c.Query(t.Context(), `SELECT p.name, r.epoch::TEXT, coalesce(s.epoch::TEXT, '') FROM pool_regions AS r JOIN pools AS p ON p.id = r.pool_id
		LEFT JOIN stocks AS s ON s.region = r.region AND s.pool_id = r.pool_id`)
	require.NoError(t, err)
	found := map[string][2]string{}
	var name, recorded, beside string
	_, err = pgx.ForEachRow(rows, []any{&name, &recorded, &beside}, func() error {
		found[name] = [2]string{recorded, beside}
		return nil
	})
	require.NoError(t, err)
	return found
}

// After a restore, each pool gets new epochs, so that they do not match any earlier read. If the two epochs of a pool differ, they stay unchanged.
func TestRestoreRenewsOnlyMatchingEpochs(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.New(t))
	c := dbtest.Connect(t, h.dsn, nil)
	exec := func(sql string, args ...any) {
		_, err := c.Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	for name, beside := range map[string]bool{"agrees": true, "differs": true, "lacks": false} {
		root := map[string]string{"agrees": "10.0.0.0/16", "differs": "10.1.0.0/16", "lacks": "10.2.0.0/16"}[name]
		p := h.createPool(t, rootPool(name, root))
		id := ipam.NewID().String()
		exec("INSERT INTO pool_regions (pool_id, region, epoch, loan_bits, loaned_at, lasted_ms) VALUES ($1, 'local', $2, -1, now(), 0)", p.UID.String(), id)
		if beside {
			exec("INSERT INTO stocks (region, pool_id, epoch) VALUES ('local', $1, $2)", p.UID.String(), id)
		}
	}
	exec("UPDATE stocks SET epoch = gen_random_uuid() WHERE pool_id = (SELECT id FROM pools WHERE name = 'differs')")
	h.createClaim(t, claimOf("one", project, "agrees", 32))
	exec(`UPDATE fences SET stock = '\x0100' WHERE id = (SELECT id FROM pools WHERE name = 'agrees')`)
	exec("DELETE FROM fences WHERE id = (SELECT id FROM pools WHERE name = 'lacks')")
	exec(`INSERT INTO fences VALUES ('local', gen_random_uuid(), gen_random_uuid(), '\x0100')`)
	withWebhook(t, h, project)
	require.NoError(t, h.store.SessionBegin(t.Context(), ipam.Session{Hash: []byte{1}, Holder: "corp:alice", ExpiresAt: time.Now().Add(time.Hour)}, 1))
	h.store.Close()
	before := epochs(t, c)

	done, err := crdb.RenewEpochs(t.Context(), h.dsn)
	require.NoError(t, err)
	require.Equal(t, 1, done.Renewed)
	require.Len(t, done.Fenced, 2)
	after := epochs(t, c)
	require.Equal(t, after["agrees"][0], after["agrees"][1], "both places have the same")
	require.NotEqual(t, before["agrees"], after["agrees"])
	require.Equal(t, before["differs"], after["differs"])
	require.Equal(t, before["lacks"], after["lacks"])
	var stopped string
	var due *string
	require.NoError(t, c.QueryRow(t.Context(), "SELECT stopped, due_at::TEXT FROM webhooks").Scan(&stopped, &due))
	require.Equal(t, "Restored", stopped, "the database that this is a copy of may be sending")
	require.Nil(t, due)
	var sessions int
	require.NoError(t, c.QueryRow(t.Context(), "SELECT count(*) FROM sessions").Scan(&sessions))
	require.Zero(t, sessions, "one that was ended since would be there again")
	report, err := audit.Run(t.Context(), h.dsn)
	require.NoError(t, err)
	require.False(t, slices.ContainsFunc(report.Findings, func(f audit.Finding) bool { return f.Invariant == "fences" }), "each container has a fence again: %v", report.Findings)
}
