package alloc_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// regionsOwn lists the tables whose rows belong to a single region. A backup of a region contains these rows.
var regionsOwn = []string{"free_blocks", "fences", "holds", "stocks", "idempotency_keys", "quota_shards"}

// kept copies the rows of a region, as a backup does. restore replaces the region's rows by this copy. The rows of other regions and the global rows
// keep their later state.
func (w *world) kept(t *testing.T, r string) (restore func()) {
	t.Helper()
	run := func(sql string, args ...any) {
		c, err := pgx.Connect(t.Context(), w.dsn)
		require.NoError(t, err)
		defer func() { _ = c.Close(t.Context()) }()
		_, err = c.Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	for _, table := range regionsOwn {
		run("CREATE TABLE kept_" + table + " AS SELECT * FROM " + table + " WHERE region = '" + r + "'")
	}
	return func() {
		for _, table := range regionsOwn {
			run("DELETE FROM " + table + " WHERE region = '" + r + "'")
			run("INSERT INTO " + table + " SELECT * FROM kept_" + table)
			run("DROP TABLE kept_" + table)
		}
	}
}

func TestRegionRestoredAloneIsFenced(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.served(t, "wide", "10.0.0.0/24")
	w.set(t, quota("all", maxClaims(100), maxAddresses(1000)))
	first, err := w.claimIn(w.ctx, eu, "first", "wide", 28)
	require.NoError(t, err)
	restore := w.kept(t, eu)

	// After the backup, the region us gets the blocks that the region eu had.
	require.NoError(t, w.in[eu].DeleteClaim(w.ctx, project, "first", usecase.Request{}))
	seen := map[string]bool{}
	for i := range 16 {
		c, err := w.claimIn(w.ctx, us, string(rune('a'+i)), "wide", 28)
		require.NoError(t, err)
		seen[c.Block.String()] = true
	}
	require.Len(t, seen, 16)
	restore()

	_, err = w.claimIn(w.ctx, eu, "second", "wide", 28)
	require.Equal(t, ipam.CodeUnavailable, ipam.CodeOf(err), "%v: eu's rows say that there is room, and us holds it all", err)
	require.Equal(t, ipam.CodeUnavailable, ipam.CodeOf(w.in[eu].DeleteClaim(w.ctx, project, "first", usecase.Request{})), "nor is anything given back into them")

	found, err := w.in[eu].Reconcile(w.ctx, regions.Reconciling{Repair: true})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.False(t, found[0].Open, "first is held in eu's rows, and by somebody in us: only people can know")
	require.Len(t, found[0].Held, 1)

	before := w.dump(t)
	for _, o := range []regions.Reconciling{
		{}, {Forget: []netip.Prefix{block("10.0.0.0/24")}}, {Repair: true, Forget: []netip.Prefix{block("10.0.0.0/29"), block("10.0.1.0/24")}},
	} {
		found, err = w.in[eu].Reconcile(w.ctx, o)
		require.NoError(t, err)
		require.False(t, found[0].Open, "it is only looked at, or not all that is held was named")
		require.NotEmpty(t, found[0].Stale)
		require.Empty(t, found[0].Forgotten)
		require.Equal(t, before, w.dump(t))
	}
	require.Equal(t, [3]string{"272", "17", "1"}, w.usage(t, "all"), "the claim that is to be forgotten counts")
	found, err = w.in[eu].Reconcile(w.ctx, regions.Reconciling{Repair: true, Forget: []netip.Prefix{block("10.0.0.0/24")}})
	require.NoError(t, err)
	require.True(t, found[0].Open)
	require.Equal(t, []regions.Forgotten{{Block: first.Block, Holder: ipam.Ref{Project: project, Name: "first"}}}, found[0].Forgotten)
	require.Equal(t, [3]string{"256", "16", "1"}, w.usage(t, "all"))
	_, err = w.in[eu].GetClaim(w.ctx, project, "first", usecase.Reading{})
	require.Equal(t, ipam.CodeNotFound, ipam.CodeOf(err))
	require.Contains(t, subjects(w.events(t, project, trail.EventFilter{Name: "first"})), regions.StockKeeper)
	// The region's quota figures are old too. A new quota counts the usage again.
	require.NoError(t, w.DeleteQuota(w.ctx, project, "all", usecase.Request{}))
	w.set(t, quota("all", maxClaims(100), maxAddresses(1000)))
	require.Equal(t, [3]string{"256", "16", "1"}, w.usage(t, "all"))

	_, err = w.claimIn(w.ctx, eu, "second", "wide", 28)
	require.Equal(t, ipam.CodePoolExhausted, ipam.CodeOf(err), "%v", err)
	require.NoError(t, w.in[us].DeleteClaim(w.ctx, project, "a", usecase.Request{}))
	_, err = w.claimIn(w.ctx, eu, "second", "wide", 28)
	require.NoError(t, err)
}

func subjects(events []ipam.Event) (out []string) {
	for _, e := range events {
		out = append(out, e.Subject)
	}
	return out
}

func TestBlocksWithLostRowsAreNotAllocated(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.served(t, "wide", "10.0.0.0/20")
	restore := w.kept(t, eu) // before the first loan
	_, err := w.claimIn(w.ctx, eu, "lost", "wide", 28)
	require.NoError(t, err)
	restore()

	found, err := w.in[eu].Reconcile(w.ctx, regions.Reconciling{})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.False(t, found[0].Open)
	require.Len(t, found[0].Missing, 1)
	lost := found[0].Missing[0]
	found, err = w.in[eu].Reconcile(w.ctx, regions.Reconciling{Repair: true})
	require.NoError(t, err)
	require.True(t, found[0].Open)

	c, err := w.claimIn(w.ctx, eu, "next", "wide", 28)
	require.NoError(t, err)
	require.False(t, lost.Overlaps(c.Block), "somebody may use it")
	p, err := w.GetPool(w.ctx, project, "wide", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, int64(1), p.Stock.Cooling[lost.Bits()])
}

// A region was restored from an old backup, so it must not serve one pool (it is fenced). It still serves other pools, and other regions still serve
// this pool.
func TestFenceAffectsOnePoolInOneRegion(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.class(t, platform, class("std", sharedClass, lengths(24, 32, 32)))
	w.class(t, platform, class("of-a", sharedClass, lengths(24, 32, 32)))
	for i, name := range []string{"a", "b"} {
		w.poolIn(t, platform, root(name, fmt.Sprintf("10.%d.0.0/24", i), backing([]string{"std", "of-a"}[:2-i]...), func(p *ipam.Pool) {
			p.Spec.Regions, p.Spec.Visibility = []string{region, eu, us}, ipam.VisibilityShared
		}))
		_, err := w.PutPoolGrant(w.ctx, platform, name, ipam.Everybody, usecase.Request{})
		require.NoError(t, err)
	}
	from := func(r, name, pool string, options ...claimOption) (ipam.Claim, error) {
		return w.by(r, claim(name, pool, 32, append([]claimOption{func(c *ipam.Claim) { c.Spec.PoolRef.Project = platform }}, options...)...))
	}
	kept, err := from(eu, "kept", "a", retain)
	require.NoError(t, err)
	require.NoError(t, w.in[eu].DeleteClaim(w.ctx, project, "kept", usecase.Request{}))
	restore := w.kept(t, eu)
	for i := range 64 { // so that the home lends blocks of pool a again
		_, err := from(eu, fmt.Sprintf("a%d", i), "a")
		require.NoError(t, err)
	}
	restore()

	_, err = from(eu, "no", "a")
	refused(t, err, ipam.CodeUnavailable)
	_, err = w.by(eu, again("no", kept.AllocationID, retain))
	refused(t, err, ipam.CodeUnavailable)
	for i := range 3 {
		got, err := w.by(eu, byClass(fmt.Sprintf("c%d", i), "std"))
		require.NoError(t, err, "the other pool behind the class is as it was")
		require.Equal(t, "b", got.Pool.Name)
	}
	_, err = from(us, "far", "a")
	require.NoError(t, err)
	_, err = w.by(eu, byClass("hidden", "of-a"))
	require.NotContains(t, refused(t, err, ipam.CodeUnavailable).Message, "platform/a", "whose pools these are is none of the consumer's business")
	found, err := w.in[eu].Reconcile(w.ctx, regions.Reconciling{Repair: true})
	require.NoError(t, err)
	require.True(t, found[0].Open)
}
