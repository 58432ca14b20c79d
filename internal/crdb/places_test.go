package crdb_test

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// away is the second region in tests with two regions.
const away = "zone-b"

// abroad returns two servers on one database, one in each of two regions.
func abroad(t testing.TB) (here, there *house) {
	t.Helper()
	dbtest.OnPostgres(t)
	dsn := dbtest.New(t)
	require.NoError(t, schema.Migrate(t.Context(), dsn, schema.MigrateOptions{Regions: []string{region, away}}))
	return houseIn(t, dsn, region), houseIn(t, dsn, away)
}

func houseIn(t testing.TB, dsn, region string) *house {
	t.Helper()
	h := &house{dsn: dsn, store: open(t, dsn, func(o *crdb.Options) { o.Region = region })}
	h.svc = alloc.New(h.store, alloc.Options{Region: region, Webhooks: hooked})
	require.NoError(t, h.svc.EnsurePlatform(admin(t)))
	return h
}

// poolsOfBoth creates one pool in each region, which is the pool's home.
func poolsOfBoth(t testing.TB, here, there *house) {
	t.Helper()
	here.createPool(t, rootPool("here", "10.1.0.0/16"))
	there.createPool(t, rootPool("there", "10.2.0.0/16"))
}

func TestStoreListsTheRegionsOfItsDatabase(t *testing.T) {
	t.Parallel()
	here, there := abroad(t)
	for _, h := range []*house{here, there} {
		var names []string
		for _, r := range h.store.KnownRegions() {
			names = append(names, r.Name)
		}
		require.Equal(t, []string{region, away}, names)
	}
}

// Two concurrent requests in two regions create a claim with the same name. One succeeds, and the other gets a conflict.
func TestConcurrentClaimsInTwoRegionsCannotShareAName(t *testing.T) {
	t.Parallel()
	here, there := abroad(t)
	poolsOfBoth(t, here, there)
	const names = 200
	var wg sync.WaitGroup
	made := make([][2]error, names)
	for w := range 8 {
		wg.Go(func() {
			for i := w; i < names; i += 8 {
				var pair sync.WaitGroup
				for side, h := range []*house{here, there} {
					pair.Go(func() {
						_, made[i][side] = h.svc.CreateClaim(admin(t), project, claimOf(fmt.Sprint("name-", i), project, []string{"here", "there"}[side], 32), usecase.Request{})
					})
				}
				pair.Wait()
			}
		})
	}
	wg.Wait()
	for i, errs := range made {
		served := 0
		for _, err := range errs {
			if err == nil {
				served++
				continue
			}
			require.True(t, ipam.IsCode(err, ipam.CodeAlreadyExists), "%d: %v", i, err)
		}
		require.Equal(t, 1, served, "%d: %v", i, errs)
		pool := "here" // the pool of the successful request; a retry finds the claim from either region
		if errs[0] != nil {
			pool = "there"
		}
		uids := map[ipam.ID]bool{}
		for _, h := range []*house{here, there} {
			again, err := h.svc.PutClaim(admin(t), project, claimOf(fmt.Sprint("name-", i), project, pool, 32), usecase.Request{})
			require.NoError(t, err)
			require.True(t, again.Existed)
			uids[again.Value.UID] = true
		}
		require.Len(t, uids, 1)
	}
	require.Equal(t, names, count(t, here, "SELECT count(*) FROM holds WHERE name IS NOT NULL"))
	clean(t, here.dsn)
}

func TestBatchIsRefusedForANameInAnotherRegion(t *testing.T) {
	t.Parallel()
	here, there := abroad(t)
	poolsOfBoth(t, here, there)
	there.createClaim(t, claimOf("taken", project, "there", 32))
	_, err := here.svc.CreateClaimBatch(admin(t), project, []ipam.Claim{claimOf("fresh", project, "here", 32), claimOf("taken", project, "here", 32)}, usecase.Request{})
	require.True(t, ipam.IsCode(err, ipam.CodeAlreadyExists), "%v", err)
	_, err = here.svc.GetClaim(admin(t), project, "fresh", usecase.Reading{})
	require.True(t, ipam.IsCode(err, ipam.CodeNotFound), "%v", err)
	clean(t, here.dsn)
}

func TestClaimIsFoundFromEveryRegion(t *testing.T) {
	t.Parallel()
	here, there := abroad(t)
	poolsOfBoth(t, here, there)
	spec := claimOf("c", project, "there", 32)
	made := there.createClaim(t, spec)
	require.Equal(t, away, made.Region)
	got, err := here.svc.GetClaim(admin(t), project, "c", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, made.UID, got.UID)
	a, err := here.svc.GetAllocation(admin(t), project, made.AllocationID.String(), usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, made.Block, a.Block)
	put, err := here.svc.PutClaim(admin(t), project, spec, usecase.Request{})
	require.NoError(t, err)
	require.True(t, put.Existed)
	_, err = here.svc.CreateClaim(admin(t), project, claimOf("c", project, "here", 32), usecase.Request{})
	require.True(t, ipam.IsCode(err, ipam.CodeAlreadyExists), "%v", err)
	require.NoError(t, here.svc.DeleteClaim(admin(t), project, "c", usecase.Request{}))
	_, err = there.svc.GetClaim(admin(t), project, "c", usecase.Reading{})
	require.True(t, ipam.IsCode(err, ipam.CodeNotFound), "%v", err)
	here.createClaim(t, claimOf("c", project, "here", 32))
	clean(t, here.dsn)
}

func TestGeneratedNamesCarryTheLetterOfTheirRegion(t *testing.T) {
	t.Parallel()
	here, there := abroad(t)
	poolsOfBoth(t, here, there)
	for ordinal, h := range []*house{here, there} {
		for _, prefix := range []string{"web-", strings.Repeat("x", ipam.MaxGenerateName)} {
			c := claimOf("", project, []string{"here", "there"}[ordinal], 32)
			c.GeneratedFrom = prefix
			c.Rename()
			name := h.createClaim(t, c).Name
			kept := prefix[:min(len(prefix), ipam.MaxName-9)]
			require.True(t, strings.HasPrefix(name, kept+string(ipam.RegionLetter(ordinal))), name)
			require.Len(t, name, len(kept)+9)
		}
	}
	clean(t, here.dsn)
}

// pages reads a list to its end, page by page.
func pages[T any](t testing.TB, read func(cursor string) (paging.Page[T], error), name func(T) string) (all []string) {
	t.Helper()
	for cursor := ""; ; {
		page, err := read(cursor)
		require.NoError(t, err)
		for _, v := range page.Items {
			all = append(all, name(v))
		}
		if cursor = page.Next; cursor == "" {
			return all
		}
	}
}

func TestListsMergeAllRegionsInOrder(t *testing.T) {
	t.Parallel()
	here, there := abroad(t)
	poolsOfBoth(t, here, there)
	var names []string
	for i := range 9 {
		h, pool := here, "here"
		if i%2 == 1 {
			h, pool = there, "there"
		}
		names = append(names, h.createClaim(t, claimExact(fmt.Sprint("c", i), project, pool, fmt.Sprintf("10.%d.0.7/32", map[string]int{"here": 1, "there": 2}[pool]))).Name)
		if i < 7 { // the last two claims stay
			require.NoError(t, h.svc.DeleteClaim(admin(t), project, names[i], usecase.Request{}))
		}
	}
	var seen [2][][]string
	for i, h := range []*house{here, there} {
		ctx := admin(t)
		claims := pages(t, func(cursor string) (paging.Page[ipam.Claim], error) {
			return h.svc.ListClaims(ctx, project, paging.Filter{}, 1, cursor, usecase.Reading{})
		}, func(c ipam.Claim) string { return c.Name })
		require.Equal(t, []string{"c7", "c8"}, claims)
		allocations := pages(t, func(cursor string) (paging.Page[ipam.Allocation], error) {
			return h.svc.ListAllocations(ctx, project, paging.Filter{}, 1, cursor, usecase.Reading{})
		}, func(a ipam.Allocation) string { return a.ContainerID.String() + " " + a.Block.String() })
		require.Len(t, allocations, 2)
		require.True(t, slices.IsSorted(allocations), allocations)
		events := pages(t, func(cursor string) (paging.Page[ipam.Event], error) {
			return h.svc.ListEvents(ctx, project, trail.EventFilter{}, 2, cursor, usecase.Reading{})
		}, func(e ipam.Event) string { return e.ID.String() })
		require.GreaterOrEqual(t, len(events), 9+7+2)
		require.True(t, slices.IsSortedFunc(events, func(a, b string) int { return strings.Compare(b, a) }), "newest first")
		var history []string
		for _, at := range []string{"10.1.0.7", "10.2.0.7"} {
			history = append(history, pages(t, func(cursor string) (paging.Page[ipam.Hold], error) {
				return h.svc.GetHistory(ctx, project, netip.MustParseAddr(at), time.Time{}, 2, cursor, usecase.Reading{})
			}, func(h ipam.Hold) string { return h.Holder.Name })...)
		}
		require.Subset(t, history, names)
		seen[i] = [][]string{claims, allocations, events, history}
	}
	require.Equal(t, seen[0], seen[1], "whichever server is asked")
}

func TestProjectIsDeletedWithItsRowsInAllRegions(t *testing.T) {
	t.Parallel()
	here, there := abroad(t)
	poolsOfBoth(t, here, there)
	p := newProject(t, here, "tenant")
	_, err := here.svc.PutQuota(admin(t), "tenant", ipam.Quota{Metadata: ipam.Metadata{Name: "all"}, Spec: ipam.QuotaSpec{Limits: ipam.QuotaLimits{Claims: new(int64(5))}}}, usecase.Request{})
	require.NoError(t, err)
	require.Equal(t, 2*ipam.QuotaShards, count(t, there, "SELECT count(*) FROM quota_shards"))
	for i, h := range []*house{here, there} {
		pool := rootPool(fmt.Sprint("own-", i), fmt.Sprintf("192.168.%d.0/24", i))
		_, err := h.svc.CreatePool(admin(t), "tenant", pool, usecase.Request{})
		require.NoError(t, err)
		_, err = h.svc.CreateClaim(admin(t), "tenant", claimOf(fmt.Sprint("c", i), "tenant", pool.Name, 32), usecase.Request{Key: "k", Fingerprint: [16]byte{1}})
		require.NoError(t, err)
	}
	err = here.svc.DeleteProject(admin(t), "tenant", usecase.Request{})
	require.True(t, ipam.IsCode(err, ipam.CodeInUse), "%v", err)
	for i, h := range []*house{here, there} {
		require.NoError(t, h.svc.DeleteClaim(admin(t), "tenant", fmt.Sprint("c", i), usecase.Request{}))
		require.NoError(t, h.svc.DeletePool(admin(t), "tenant", fmt.Sprint("own-", i), usecase.Request{}))
	}
	require.NoError(t, here.svc.DeleteProject(admin(t), "tenant", usecase.Request{}))
	for _, table := range []string{"project_regions", "idempotency_keys"} {
		require.Zero(t, count(t, here, "SELECT count(*) FROM "+table+" WHERE project_id = '"+p.UID.String()+"'"), table)
	}
	require.Zero(t, count(t, here, "SELECT count(*) FROM quota_shards"))
	_, err = here.store.Purge(admin(t), 3)
	require.NoError(t, err)
	for _, table := range []string{"audit_events", "history", "removals"} {
		require.Zero(t, count(t, here, "SELECT count(*) FROM "+table+" WHERE project_id = '"+p.UID.String()+"'"), table)
	}
	clean(t, here.dsn)
}

func count(t testing.TB, h *house, sql string) (n int) {
	t.Helper()
	require.NoError(t, dbtest.Connect(t, h.dsn, nil).QueryRow(t.Context(), sql).Scan(&n))
	return n
}

// Row-level security hides all rows of the other region. A project with claims in one region can still create, read, list and release them. The other
// region exists, and another project uses it.
func TestProjectOfOneRegionReadsNoRowOfAnother(t *testing.T) {
	t.Parallel()
	here, there := abroad(t)
	poolsOfBoth(t, here, there)
	newProject(t, here, "tenant")
	_, err := here.svc.CreatePool(admin(t), "tenant", rootPool("own", "192.168.0.0/24"), usecase.Request{})
	require.NoError(t, err)
	_, err = here.svc.PutQuota(admin(t), "tenant", ipam.Quota{Metadata: ipam.Metadata{Name: "all"}, Spec: ipam.QuotaSpec{Limits: ipam.QuotaLimits{Claims: new(int64(1000))}}}, usecase.Request{})
	require.NoError(t, err)
	there.createClaim(t, claimOf("elsewhere", project, "there", 32))
	walled := houseOfOneRegion(t, here.dsn)
	ctx := admin(t)
	for i := range 20 {
		c := claimOf(fmt.Sprint("c", i), "tenant", "own", 32)
		if i%2 == 1 {
			c.GeneratedFrom = "g-"
			c.Rename()
		}
		made, err := walled.svc.CreateClaim(ctx, "tenant", c, usecase.Request{})
		require.NoError(t, err)
		got, err := walled.svc.GetClaim(ctx, "tenant", made.Value.Name, usecase.Reading{})
		require.NoError(t, err)
		require.Equal(t, made.Value.UID, got.UID)
		if i%3 > 0 {
			require.NoError(t, walled.svc.DeleteClaim(ctx, "tenant", made.Value.Name, usecase.Request{}))
		}
	}
	page, err := walled.svc.ListClaims(ctx, "tenant", paging.Filter{}, 100, "", usecase.Reading{})
	require.NoError(t, err)
	require.Len(t, page.Items, 7)
	clean(t, here.dsn)
}

// houseOfOneRegion returns a server of the first region. Its database role cannot see the rows of another region.
func houseOfOneRegion(t testing.TB, dsn string) *house {
	t.Helper()
	c := dbtest.Connect(t, dsn, nil)
	role := "walled_" + strings.ReplaceAll(ipam.NewID().String(), "-", "")
	statements := []string{
		"CREATE ROLE " + role + " LOGIN",
		"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO " + role,
	}
	for _, l := range schema.Tables() {
		if l.Locality == schema.RegionalByRow {
			statements = append(statements, "ALTER TABLE "+l.Name+" ENABLE ROW LEVEL SECURITY",
				"CREATE POLICY walled ON "+l.Name+" TO "+role+" USING (region = '"+region+"') WITH CHECK (region = '"+region+"')")
		}
	}
	for _, sql := range statements {
		_, err := c.Exec(t.Context(), sql)
		require.NoError(t, err, sql)
	}
	t.Cleanup(func() {
		c, err := pgx.Connect(context.Background(), dsn)
		require.NoError(t, err)
		defer func() { _ = c.Close(context.Background()) }()
		for _, sql := range []string{"DROP OWNED BY " + role, "DROP ROLE " + role} {
			_, err := c.Exec(context.Background(), sql)
			require.NoError(t, err, sql)
		}
	})
	u, err := url.Parse(dsn)
	require.NoError(t, err)
	q := u.Query()
	q.Set("user", role)
	u.User, u.RawQuery = url.User(role), q.Encode()
	return houseIn(t, u.String(), region)
}
