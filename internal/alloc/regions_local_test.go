package alloc_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/devdb"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// confined makes a server that can read and write only the rows of its own region. So it works as if the region were cut off. The server's database
// role enforces this.
func (w *world) confined(t *testing.T, r string) *alloc.Service {
	t.Helper()
	if dbtest.Engine() != devdb.Postgres {
		t.Skip("row-level security is PostgreSQL's")
	}
	c, err := pgx.Connect(t.Context(), w.dsn)
	require.NoError(t, err)
	defer func() { _ = c.Close(t.Context()) }()
	role := "confined_" + strings.ToLower(rand.Text())
	run := func(format string, args ...any) {
		_, err := c.Exec(t.Context(), fmt.Sprintf(format, args...))
		require.NoError(t, err)
	}
	run("CREATE ROLE %s LOGIN PASSWORD 'confined'", role)
	run("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO %s", role)
	t.Cleanup(func() { w.dropRole(t, role) })
	rows, err := c.Query(t.Context(), `SELECT table_name FROM information_schema.columns
		WHERE table_schema = 'public' AND column_name = 'region' AND table_name NOT IN ('spaces', 'pools', 'region_blocks', 'pool_regions', 'project_regions')`)
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Subset(t, tables, []string{"fences", "free_blocks", "holds", "idempotency_keys", "quota_shards", "audit_events", "history", "stocks"})
	for _, table := range tables {
		run("ALTER TABLE %s ENABLE ROW LEVEL SECURITY", table)
		run("CREATE POLICY %s ON %s TO %s USING (region = '%s') WITH CHECK (region = '%s')", role, table, role, r, r)
	}
	dsn, err := url.Parse(w.dsn)
	require.NoError(t, err)
	q := dsn.Query()
	q.Set("user", role)
	q.Set("password", "confined")
	dsn.RawQuery = q.Encode()
	store, err := crdb.Open(w.ctx, dsn.String(), crdb.Options{Region: r})
	require.NoError(t, err)
	t.Cleanup(store.Close)
	return alloc.New(store, alloc.Options{Region: r, Clock: w.clock.read, Runway: time.Hour})
}

func (w *world) dropRole(t *testing.T, role string) {
	t.Helper()
	ctx := context.WithoutCancel(w.ctx) // the test's context has ended
	c, err := pgx.Connect(ctx, w.dsn)
	require.NoError(t, err)
	defer func() { _ = c.Close(ctx) }()
	for _, sql := range []string{"DROP OWNED BY ", "DROP ROLE "} {
		_, err = c.Exec(ctx, sql+role)
		require.NoError(t, err)
	}
}

// steady makes claims and releases of all kinds that need only the region's own free blocks.
func (w *world) steady(t *testing.T, s *alloc.Service, pool string, rounds int) {
	t.Helper()
	bits := 32
	spec := ipam.ClaimSpec{PoolRef: ipam.Ref{Project: project, Name: pool}, PrefixLength: &bits}
	for i := range rounds {
		w.clock.move(30 * time.Second)
		given := ipam.Metadata{Name: fmt.Sprintf("given-%d", i)}
		generated := ipam.Metadata{GeneratedFrom: "made-"}
		generated.Rename()
		for _, m := range []ipam.Metadata{given, generated} {
			got, err := s.CreateClaim(w.ctx, project, ipam.Claim{Metadata: m, Spec: spec}, usecase.Request{Key: fmt.Sprintf("%s-%d", m.GeneratedFrom, i)})
			require.NoError(t, err)
			_, err = s.GetClaim(w.ctx, project, got.Value.Name, usecase.Reading{})
			require.NoError(t, err)
			if i%4 != 0 {
				require.NoError(t, s.DeleteClaim(w.ctx, project, got.Value.Name, usecase.Request{}))
			}
		}
		batch := []ipam.Claim{{Metadata: ipam.Metadata{Name: fmt.Sprintf("b-%d-0", i)}, Spec: spec}, {Metadata: ipam.Metadata{Name: fmt.Sprintf("b-%d-1", i)}, Spec: spec}}
		_, err := s.CreateClaimBatch(w.ctx, project, batch, usecase.Request{})
		require.NoError(t, err)
		for _, c := range batch {
			require.NoError(t, s.DeleteClaim(w.ctx, project, c.Name, usecase.Request{}))
		}
	}
}

func TestClaimsReadNoRowOfAnotherRegion(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.served(t, "wide", "10.0.0.0/16")
	_, err := w.PutQuota(w.ctx, project, ipam.Quota{Metadata: ipam.Metadata{Name: "all"}, Spec: ipam.QuotaSpec{Limits: ipam.QuotaLimits{Claims: new(int64(1000))}}}, usecase.Request{})
	require.NoError(t, err)
	moved, err := w.in[eu].RebalanceStocks(w.ctx)
	require.NoError(t, err)
	require.Equal(t, 1, moved, "the region is given its first stock before anybody asks")

	alone := w.confined(t, eu)
	w.steady(t, alone, "wide", 20) // ten minutes
	requireAll(t, w, eu)

	t.Run("WithoutStockTheyAreRefused", func(t *testing.T) {
		w.served(t, "dry", "10.1.0.0/16")
		_, err := claimWith(w, alone, "c", "dry")
		require.Error(t, err, "the twin of this test: nothing was lent, and what is at home cannot be seen")
	})
}

// requireAll requires that all claims are in a region.
func requireAll(t *testing.T, w *world, r string) {
	t.Helper()
	page, err := w.ListClaims(w.ctx, project, paging.Filter{}, 500, "", usecase.Reading{})
	require.NoError(t, err)
	require.NotEmpty(t, page.Items)
	for _, c := range page.Items {
		require.Equal(t, r, c.Region)
		require.True(t, netip.MustParsePrefix("10.0.0.0/16").Contains(c.Block.Addr()))
	}
}

func claimWith(w *world, s *alloc.Service, name, pool string) (ipam.Claim, error) {
	bits := 32
	got, err := s.CreateClaim(w.ctx, project, ipam.Claim{Metadata: ipam.Metadata{Name: name}, Spec: ipam.ClaimSpec{PoolRef: ipam.Ref{Project: project, Name: pool}, PrefixLength: &bits}}, usecase.Request{})
	return got.Value, err
}
