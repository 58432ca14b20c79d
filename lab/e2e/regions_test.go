package e2e

import (
	"fmt"
	"math/big"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// globe is one database with a server process in each of three regions. Its world is the server of the first region.
type globe struct {
	*world
	in      map[string]*caller
	servers map[string]*process
}

// everywhere lists the regions of a globe, the primary region first.
var everywhere = append([]string{region}, elsewhere...)

func setupGlobe(t testing.TB) *globe {
	t.Helper()
	g := &globe{in: map[string]*caller{}, servers: map[string]*process{}}
	dsn := database(t, elsewhere...)
	for _, r := range everywhere {
		g.servers[r] = startProcess(t, serverBinary(t), nil, "--database-url="+dbtest.Gateway(t, dsn, r), "--region="+r, "--max-connections=8", "--request-timeout=60s")
		g.in[r] = newCaller(g.servers[r].Addr())
	}
	g.world = newWorld(t, g.in[region], dsn)
	g.created(t, g.do(t, http.MethodPost, "/v1/projects", obj{"metadata": obj{"name": project}}))
	return g
}

// served returns the spec of a pool that all regions of a globe serve.
func served(cidr string) obj { return obj{"cidr": cidr, "regions": everywhere} }

// stands requires that the regional figures of a pool add up. It returns the figures by region.
func stands(t testing.TB, p client.IPPool) map[string]client.PoolInRegion {
	t.Helper()
	require.Len(t, p.Status.Regions, len(p.Spec.Regions))
	total, available := new(big.Int), new(big.Int)
	by := map[string]client.PoolInRegion{}
	for i, r := range p.Status.Regions {
		require.Equal(t, p.Spec.Regions[i], r.Region, "in the order of the spec")
		require.Equal(t, r.Region == p.Metadata.Region, r.Home)
		total.Add(total, number(t, r.Capacity.Total))
		available.Add(available, number(t, r.Capacity.Available))
		by[r.Region] = r
	}
	require.Equal(t, p.Status.Capacity.Total, total.String())
	require.Equal(t, p.Status.Capacity.Available, available.String())
	return by
}

func TestRegionsAreListedByEachServer(t *testing.T) {
	t.Parallel()
	g := setupGlobe(t)
	for here, c := range g.in {
		found := decode[client.RegionList](t, c.ok(t, c.do(t, http.MethodGet, "/v1/regions", nil))).Items
		require.Len(t, found, len(everywhere))
		for i, r := range found {
			require.Equal(t, everywhere[i], r.Name, "in the order in which they were added")
			require.Equal(t, i == 0, r.Primary)
			require.Equal(t, r.Name == here, r.Here)
		}
	}
}

// A claim is made in the region of its request. Afterwards the servers in all regions see the same claim.
func TestPoolServesThreeRegions(t *testing.T) {
	t.Parallel()
	g := setupGlobe(t)
	made := g.in["eu"].pool(t, "net", served("10.0.0.0/16"))
	require.Equal(t, region, made.Metadata.Region, "the first of its regions is its home, whoever makes it")
	require.Equal(t, region, made.Spec.Region)
	require.Equal(t, everywhere, made.Spec.Regions)

	held := map[string]client.IPClaim{}
	for _, r := range everywhere {
		held[r] = g.in[r].claim(t, "in-"+r, from("net", 28))
		require.Equal(t, r, held[r].Metadata.Region)
	}
	for i, r := range everywhere { // another region reads, changes and releases each claim
		near, far, path := g.in[r], g.in[everywhere[(i+1)%len(everywhere)]], at("claims", "in-"+r)
		seen := far.ok(t, far.do(t, http.MethodGet, path, nil))
		require.Equal(t, held[r], decode[client.IPClaim](t, seen))
		of := decode[client.IPAllocation](t, far.ok(t, far.do(t, http.MethodGet, at("allocations", held[r].Status.AllocationRef.Name), nil)))
		require.Equal(t, []string{r, held[r].Status.AllocatedCIDR}, []string{of.Metadata.Region, of.Status.AllocatedCIDR})

		far.refused(t, far.postClaim(t, "in-"+r, from("net", 28)), "already_exists")
		put := far.ok(t, far.do(t, http.MethodPut, path, obj{"spec": from("net", 28)}))
		require.Equal(t, held[r], decode[client.IPClaim](t, put), "PUT answers the claim that there is")
		labels := obj{"metadata": obj{"labels": obj{"seen": "yes"}}}
		changed := far.ok(t, far.do(t, http.MethodPatch, path, labels, ifMatch(seen.etag())))
		near.refused(t, near.do(t, http.MethodPatch, path, obj{"metadata": obj{"labels": obj{"seen": "no"}}}, ifMatch(seen.etag())), "precondition_failed")
		require.Equal(t, changed.etag(), near.ok(t, near.do(t, http.MethodGet, path, nil)).etag())
	}
	by := stands(t, g.getPool(t, "net"))
	for _, r := range elsewhere {
		require.Positive(t, by[r].Loans)
		require.NotNil(t, by[r].LastLoanPrefixLength)
		require.NotNil(t, by[r].LastLoanAt)
	}
	require.Zero(t, by[region].Loans)
	for i, r := range everywhere {
		far := g.in[everywhere[(i+2)%len(everywhere)]]
		far.release(t, "in-"+r)
		g.in[r].refused(t, g.in[r].do(t, http.MethodGet, at("claims", "in-"+r), nil), "not_found")
	}
	g.deleted(t, g.do(t, http.MethodDelete, at("pools", "net"), nil))
}

// Lists contain the objects of all regions, in one order, page by page.
func TestListsContainTheObjectsOfAllRegions(t *testing.T) {
	t.Parallel()
	g := setupGlobe(t)
	g.pool(t, "net", served("10.0.0.0/16"))
	var names []string
	for i := range 12 {
		name := fmt.Sprintf("c-%02d", i)
		g.in[everywhere[i%len(everywhere)]].claim(t, name, from("net", 28))
		names = append(names, name)
	}
	for _, c := range g.in {
		var seen []string
		for cursor := ""; ; {
			path := at("claims") + "?limit=5"
			if cursor != "" {
				path += "&cursor=" + cursor
			}
			page := decode[client.IPClaimList](t, c.ok(t, c.do(t, http.MethodGet, path, nil)))
			for _, claim := range page.Items {
				seen = append(seen, claim.Metadata.Name)
			}
			if cursor = page.NextCursor; cursor == "" {
				break
			}
		}
		require.Equal(t, names, seen)
		require.Len(t, all[client.IPAllocation](t, c, at("allocations")), len(names))
	}
}
