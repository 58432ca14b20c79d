package crdb_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// steady lists the statements of a claim in one round trip. The server has cached the project and the pool with their versions. BEGIN and two locks
// precede these statements, and COMMIT follows them. longRead and longWrite list the statements of a claim that reads first.
var (
	steady    = []string{"mark_is", "fence_update_one_sure", "free_delete_one_sure", "hold_insert_one", "event_insert_one"}
	longRead  = []string{"fence_list_here", "pool_state", "free_tightest", "quota_parts"}
	longWrite = []string{"fence_update_one", "free_delete_one", "projects_placed", "hold_insert_one", "event_insert_one"}
)

// If a project has claims in only one region, a claim costs nothing more in a database with several regions. If the pool is in several regions, the
// claim costs one statement more, but no round trip. If the project has claims in several regions and the caller chose the name, the claim must read
// first, and costs one round trip more.
func TestClaimCostWithSeveralRegions(t *testing.T) {
	t.Parallel()
	dbtest.OnPostgres(t)
	epochs, epoch := append(slices.Clone(longRead), "stock_epoch"), slices.Insert(slices.Clone(steady), 1, "epoch_is")
	elsewhere := []string{"claims_named_elsewhere"}
	for name, c := range map[string]struct {
		regions   bool
		pool      string // "own": a pool in one region; "both": a pool in both
		twice     bool   // the project has claims in the other region, too
		generated bool
		trips     [][]string
	}{
		"OneRegion":                               {pool: "own", trips: [][]string{steady}},
		"OneRegionGeneratedName":                  {pool: "own", generated: true, trips: [][]string{steady}},
		"AProjectOfOneOfTwoRegions":               {regions: true, pool: "own", trips: [][]string{steady}},
		"AProjectOfOneOfTwoRegionsGeneratedName":  {regions: true, pool: "own", generated: true, trips: [][]string{steady}},
		"AServedPool":                             {regions: true, pool: "both", trips: [][]string{epoch}},
		"AServedPoolGeneratedName":                {regions: true, pool: "both", generated: true, trips: [][]string{epoch}},
		"AProjectOfTwoRegions":                    {regions: true, pool: "both", twice: true, trips: [][]string{epochs, longWrite, elsewhere, nil}},
		"AProjectOfTwoRegionsGeneratedName":       {regions: true, pool: "both", twice: true, generated: true, trips: [][]string{epoch}},
		"AProjectOfTwoRegionsInAPoolOfOneOfThese": {regions: true, pool: "own", twice: true, generated: true, trips: [][]string{steady}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, there := oneOrTwo(t, c.regions)
			h.createPool(t, rootPool("own", "10.1.0.0/16"))
			if c.pool == "both" {
				both := rootPool("both", "10.3.0.0/16")
				both.Spec.Region, both.Spec.Regions = region, []string{region, away}
				h.createPool(t, both)
			}
			if c.twice {
				there.createPool(t, rootPool("there", "10.2.0.0/16"))
				there.createClaim(t, claimOf("elsewhere", project, "there", 32))
			}
			tap := newWiretap(t, h.dsn)
			store := open(t, tap.dsn, func(o *crdb.Options) { o.OnAttempt, o.MaxConnections, o.LocalTime = tap.watch, 1, sureClock() })
			svc := alloc.New(store, alloc.Options{Region: region, Webhooks: hooked})
			claim := func(name string) {
				spec := claimOf(name, project, c.pool, 32)
				if c.generated {
					spec.GeneratedFrom = "g-"
					spec.Rename()
				}
				_, err := svc.CreateClaim(admin(t), project, spec, usecase.Request{})
				require.NoError(t, err)
			}
			claim("first") // the server looks up the first name separately, and later names with the claim
			claim("second")
			tap.take()
			claim("third")
			require.Equal(t, c.trips, sent(tap.take()))
			clean(t, h.dsn)
		})
	}
}

// oneOrTwo returns two servers in two regions of one database. Without two, it returns one server twice, in a database with one region.
func oneOrTwo(t *testing.T, two bool) (here, there *house) {
	t.Helper()
	if two {
		return abroad(t)
	}
	here = houseIn(t, dbtest.New(t), region)
	return here, here
}

// sent returns the statements of attempts, by round trip. A merged statement appears as its parts. BEGIN, locks and COMMIT are omitted. Inserts of
// free blocks are omitted, too, because they depend on the block.
func sent(attempts []attempted) (trips [][]string) {
	for _, a := range attempts {
		for _, trip := range a.Trips {
			trips = append(trips, slices.DeleteFunc(strings.Split(strings.Join(trip, "+"), "+"), func(s string) bool {
				return s == "" || s == "lock" || s == "commit" || strings.HasPrefix(s, "free_insert") || strings.HasPrefix(s, "begin ")
			}))
		}
	}
	for i := range trips {
		if len(trips[i]) == 0 {
			trips[i] = nil
		}
	}
	return trips
}
