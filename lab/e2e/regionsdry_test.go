package e2e

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/app"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// If a region has no free blocks, it borrows within the same request. The pool is exhausted only if no region has room.
func TestEmptyRegionBorrowsWithinTheRequest(t *testing.T) {
	t.Parallel()
	g := setupGlobe(t)
	g.pool(t, "net", served("10.0.0.0/24"))
	for _, r := range elsewhere { // blocks on loan to other regions must stay usable
		g.in[r].release(t, g.in[r].claim(t, "first", from("net", 28)).Metadata.Name)
	}
	seen := map[string]bool{}
	for i := range 16 {
		claim := g.in["us"].claim(t, fmt.Sprintf("c%d", i), from("net", 28))
		require.Equal(t, "us", claim.Metadata.Region)
		seen[claim.Status.AllocatedCIDR] = true
	}
	require.Len(t, seen, 16, "all of the pool, and each block once")
	for _, r := range everywhere {
		p := g.in[r].refused(t, g.in[r].postClaim(t, "more", from("net", 32)), "pool_exhausted")
		require.Equal(t, client.Count("0"), p.AvailableAddresses)
		require.Equal(t, []string{project + "/net"}, p.PoolsTried)
		require.Equal(t, client.IPPoolPhase("Exhausted"), g.in[r].getPool(t, "net").Status.Phase)
	}
	dry := stands(t, g.getPool(t, "net"))
	require.Equal(t, []string{"256", "0s"}, []string{dry["us"].Capacity.Total, dry["us"].Runway}, "it has been lent all, bit by bit")
	require.Equal(t, "0", dry[region].Capacity.Total)

	g.in[region].release(t, "c7")
	next := g.in["eu"].claim(t, "next", from("net", 28))
	require.Equal(t, "eu", next.Metadata.Region, "of what was released in another region")
	g.in["us"].refused(t, g.in["us"].postClaim(t, "more", from("net", 28)), "pool_exhausted")
}

// A claim may be larger than all blocks on loan to its region. It succeeds if any region has room.
func TestRegionBorrowsEnoughForOneLargeClaim(t *testing.T) {
	t.Parallel()
	g := setupGlobe(t)
	g.pool(t, "net", served("10.0.0.0/16"))
	g.in["eu"].claim(t, "small", from("net", 30))
	require.Equal(t, "eu", g.in["eu"].claim(t, "large", from("net", 17)).Metadata.Region)
	lent, err := strconv.Atoi(stands(t, g.getPool(t, "net"))["eu"].Capacity.Total) // the loan may be larger, because the server borrows in advance
	require.NoError(t, err)
	require.GreaterOrEqual(t, lent, 1<<15)

	very := g.in["us"].claim(t, "very", obj{"poolRef": obj{"name": "net"}, "address": "10.0.127.255"})
	require.Equal(t, "10.0.127.255/32", very.Status.AllocatedCIDR, "the very block, wherever it is")
	batch := g.in["us"].do(t, http.MethodPost, at("claim-batches"), obj{"claims": []obj{named("b0", from("net", 20)), named("b1", from("net", 20)), named("b2", from("net", 21))}})
	for _, claim := range decode[client.ClaimBatch](t, g.in["us"].created(t, batch)).Claims {
		require.Equal(t, "us", claim.Metadata.Region)
	}
	child := g.in["us"].pool(t, "child", child("net", 22))
	require.Equal(t, "us", child.Metadata.Region, "a child is at home where it was made, unless it says otherwise")
	require.Empty(t, child.Spec.Regions, "and served where it says itself, not where its parent is")
	require.Equal(t, "us", g.in["eu"].claim(t, "of-child", from("child", 28)).Metadata.Region)
}

// A region can be removed from a pool if nothing is held there. If the patch is refused, the region keeps its blocks.
func TestPoolLosesOnlyARegionWithoutHeldBlocks(t *testing.T) {
	t.Parallel()
	dsn := database(t, elsewhere...)
	w := newWorld(t, newCaller(serve(t, dsn)), dsn)
	w.created(t, w.do(t, http.MethodPost, "/v1/projects", obj{"metadata": obj{"name": project}}))
	w.pool(t, "net", obj{"cidr": "10.0.0.0/16", "regions": []string{region, "eu"}})
	eu := start(t, dbtest.Gateway(t, dsn, "eu"), t.Output(), "--region=eu")
	require.Equal(t, "eu", newCaller(eu.Addr()).claim(t, "c", from("net", 28)).Metadata.Region)
	require.NoError(t, eu.Close(t.Context())) // otherwise the server might borrow while the test compares rows

	patch := func(spec obj) answer {
		return w.do(t, http.MethodPatch, at("pools", "net"), obj{"spec": spec}, ifMatch("*"))
	}
	w.writesNothing(t, func() {
		for name, tc := range map[string]struct {
			spec          obj
			code, pointer string
			says          string
		}{
			"TheRegionHoldsBlocks": {obj{"regions": []string{region}}, "in_use", "/spec/regions", `Blocks of pool acme/net are held in region "eu"`},
			"AllButTheHome":        {obj{"regions": nil}, "in_use", "/spec/regions", "Release them first"},
			"InPlaceOfAnother":     {obj{"regions": []string{region, "us"}}, "in_use", "/spec/regions", `must include "eu" while blocks are held there`},
			"NoSuchRegion":         {obj{"regions": []string{region, "mars"}}, "invalid_argument", "/spec/regions/1", "it has local, eu, us"},
			"WithoutTheHome":       {obj{"regions": []string{"us", "eu"}}, "invalid_argument", "/spec/regions", `must include the pool's home, "local"`},
			"TheHome":              {obj{"region": "eu"}, "immutable_field", "/spec/region", "never changes"},
			"NoHome":               {obj{"region": nil}, "immutable_field", "/spec/region", "never changes"},
		} {
			t.Run(name, func(t *testing.T) {
				p := w.refused(t, patch(tc.spec), tc.code, tc.pointer)
				require.Contains(t, p.Detail+" "+p.Errors[0].Detail, tc.says)
			})
		}
	})
	w.release(t, "c")
	after := decode[client.IPPool](t, w.ok(t, patch(obj{"regions": []string{region, "us"}})))
	require.Equal(t, []string{region, "us"}, after.Spec.Regions)
	by := stands(t, after)
	require.Equal(t, "65536", by[region].Capacity.Total, "what was lent is at home again")
	alone := decode[client.IPPool](t, w.ok(t, patch(obj{"regions": nil})))
	require.Empty(t, alone.Spec.Regions)
	require.Empty(t, alone.Status.Regions)
}

// After a restore, a region's rows and its loan records may be of different times. Then no claim may use these rows and no release may change them,
// until an operator reconciles the region.
func TestRegionRestoredAloneRefusesClaimsAndReleases(t *testing.T) {
	t.Parallel()
	dsn := database(t, elsewhere...)
	w := newWorld(t, newCaller(serve(t, dsn)), dsn)
	w.created(t, w.do(t, http.MethodPost, "/v1/projects", obj{"metadata": obj{"name": project}}))
	w.pool(t, "net", obj{"cidr": "10.0.0.0/16", "regions": []string{region, "eu"}})
	eu := newCaller(serve(t, dbtest.Gateway(t, dsn, "eu"), "--region=eu"))
	eu.claim(t, "c", from("net", 28))
	eu.outages = true
	w.outages = true
	tag, err := w.sql.Exec(t.Context(), "UPDATE stocks SET epoch = gen_random_uuid() WHERE region = 'eu'")
	require.NoError(t, err)
	require.EqualValues(t, 1, tag.RowsAffected())
	for what, a := range map[string]answer{
		"claim":   eu.postClaim(t, "d", from("net", 28)),
		"batch":   eu.do(t, http.MethodPost, at("claim-batches"), obj{"claims": []obj{named("d", from("net", 28))}}),
		"release": eu.do(t, http.MethodDelete, at("claims", "c"), nil),
		"fromFar": w.do(t, http.MethodDelete, at("claims", "c"), nil),
		"child":   eu.do(t, http.MethodPost, at("pools"), named("child", child("net", 24))),
	} {
		p := w.refused(t, a, "unavailable")
		require.Contains(t, p.Detail, `Pool acme/net cannot be used in region "eu"`, what)
		require.NotEmpty(t, a.header.Get("Retry-After"), what)
	}
	w.claim(t, "here", from("net", 28)) // the other regions still serve the pool
	require.Equal(t, "c", decode[client.IPClaim](t, eu.ok(t, eu.do(t, http.MethodGet, at("claims", "c"), nil))).Metadata.Name)

	found, err := app.Reconcile(t.Context(), dsn, "eu", false, nil)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.True(t, found[0].Open)
	eu.claim(t, "d", from("net", 28))
	eu.release(t, "c")
}
