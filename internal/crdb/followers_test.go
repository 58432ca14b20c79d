package crdb_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// readsOfAFollower are requests that may be answered by what is stale.
var readsOfAFollower = []string{
	"ListProjects", "ListSpaces", "GetPool", "GetPoolFree", "ListPools", "ListPoolsThatCover", "GetClaim", "ListClaims", "ListClaimsOfPool",
	"ListAllocations", "ListAllocationsOfPool", "ListMembers", "ListKeys", "ListQuotas", "ListEvents", "GetHistory", "GetHistoryAtATime",
}

// What a request reads if it may be stale is read in transactions that cannot write, on connections of their own, and their moment is told; who may read it is
// not read so.
func TestStaleReadsAreOfAMomentAndInTransactionsThatCannotWrite(t *testing.T) {
	t.Parallel()
	dbtest.OnPostgres(t)
	const in = "team"
	dsn := dbtest.New(t)
	direct := newHouse(t, dsn)
	newProject(t, direct, in)
	withClaim(ipam.ReclaimRetain)(t, direct, in)
	for _, name := range readsOfAFollower {
		tap := newWiretap(t, dsn)
		store := open(t, tap.dsn, func(o *crdb.Options) { o.OnAttempt, o.MaxConnections = tap.watch, 1 })
		s := server{alloc.New(store, alloc.Options{Region: region}), store}
		tap.take()
		ctx := storage.Stale(admin(t))
		before := time.Now()
		require.NoError(t, readings[name].do(ctx, s, in), name)
		behind := 0
		for _, a := range tap.take() {
			if a.Op == "project_get" {
				require.Equal(t, [][]string{{"project_get"}}, a.Trips, name)
				continue
			}
			behind++
			require.Equal(t, []string{"begin isolation level repeatable read read only", "select now()"}, a.Trips[0], "%s: %s", name, a.Op)
			require.Equal(t, []string{"commit"}, a.Trips[len(a.Trips)-1], "%s: %s", name, a.Op)
			require.Greater(t, len(a.Trips), 2, "%s: %s", name, a.Op)
		}
		require.Positive(t, behind, name)
		at := storage.ReadAt(ctx)
		require.WithinRange(t, at, before.Add(-time.Second), time.Now().Add(time.Second), name) // two clocks of one machine
		store.Close()
	}
}

// A use case that writes reads what was written last, whatever the request says of itself.
func TestWhatWritesIsNeverStale(t *testing.T) {
	t.Parallel()
	dbtest.OnPostgres(t)
	for _, name := range []string{"CreateClaim", "CreateClaimByClass", "CreateClaimBatch", "PutClaim", "CreateClaimWithinQuota", "DeleteClaim", "PatchPool", "DeletePool", "PutQuota"} {
		o := operations[name]
		require.NotNil(t, o.do, name)
		stale := reading{o.prepare, func(ctx context.Context, s server, p string) error {
			ctx = storage.Stale(ctx)
			_, err := o.do(ctx, s.svc, p, o.request())
			require.Zero(t, storage.ReadAt(ctx), name)
			return err
		}}
		for _, a := range record(t, stale) {
			for _, trip := range a.Trips {
				require.False(t, slices.ContainsFunc(trip, func(s string) bool { return strings.HasSuffix(s, "read only") }), "%s: %v", name, a)
			}
		}
	}
}
