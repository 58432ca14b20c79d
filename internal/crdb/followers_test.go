package crdb_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// readsOfAFollower lists the requests that may return stale data.
var readsOfAFollower = []string{
	"ListProjects", "ListSpaces", "GetPool", "GetPoolFree", "ListPools", "ListPoolsThatCover", "GetClass", "ListClasses", "GetClaim", "ListClaims",
	"ListClaimsOfOwner", "ListClaimsOfPool", "GetAllocation", "ListAllocations", "ListAllocationsOfPool", "ListMembers", "ListKeys", "ListPoolGrants", "ListQuotas", "ListEvents",
	"GetHistory", "GetHistoryAtATime", "GetPoolMap", "GetPoolUtilization", "ListRootPools", "SearchAddress", "SearchAddressInProject", "SearchName", "SearchLabel",
}

// A stale read uses a read-only transaction on a separate connection, and reports the time of its snapshot. The caller's permissions are never read
// stale.
func TestStaleReadsUseReadOnlyTransactionsAndReportTheirTime(t *testing.T) {
	t.Parallel()
	dbtest.OnPostgres(t)
	const in = "team"
	dsn := dbtest.New(t)
	direct := newHouse(t, dsn)
	newProject(t, direct, in)
	withClaim(ipam.ReclaimRetain)(t, direct, in)
	_, err := direct.svc.CreateClass(admin(t), in, classOf("class"), false, usecase.Request{})
	require.NoError(t, err)
	for _, name := range readsOfAFollower {
		tap := newWiretap(t, dsn)
		store := open(t, tap.dsn, func(o *crdb.Options) { o.OnAttempt, o.MaxConnections = tap.watch, 1 })
		var read storage.Moment
		s := server{alloc.New(store, alloc.Options{Region: region, Webhooks: hooked}), store, usecase.Reading{Behind: &read}}
		tap.take()
		before := time.Now()
		require.NoError(t, readings[name].do(admin(t), s, in), name)
		behind := 0
		for i, a := range tap.take() {
			if decides := i == 0 && strings.HasPrefix(name, "Search") && name != "SearchAddress"; decides || a.Op == "project_get" {
				require.Equal(t, [][]string{{a.Op}}, a.Trips, name)
				continue
			}
			behind++
			require.Equal(t, []string{"begin isolation level repeatable read read only", "select now()"}, a.Trips[0], "%s: %s", name, a.Op)
			require.Equal(t, []string{"commit"}, a.Trips[len(a.Trips)-1], "%s: %s", name, a.Op)
			require.Greater(t, len(a.Trips), 2, "%s: %s", name, a.Op)
		}
		require.Positive(t, behind, name)
		at := read.At()
		require.WithinRange(t, at, before.Add(-time.Second), time.Now().Add(time.Second), name) // two clocks of the same machine
		store.Close()
	}
}
