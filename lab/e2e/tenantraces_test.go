package e2e

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/crdb"
)

// hammer calls f in several numbered goroutines, a number of times in each. The returned function ends them early and returns when all have ended.
func hammer(t testing.TB, workers, turns int, f func(worker, turn int)) (stop func()) {
	t.Helper()
	var wg sync.WaitGroup
	var stopped atomic.Bool
	for worker := range workers {
		wg.Go(func() {
			for turn := 0; turn < turns && !stopped.Load() && t.Context().Err() == nil; turn++ {
				f(worker, turn)
			}
		})
	}
	stop = func() {
		stopped.Store(true)
		wg.Wait()
	}
	t.Cleanup(stop)
	return stop
}

// endless is a number of turns for which a test has no time.
const endless = 1 << 30

// hit is like try, for a hammer. The hammer may end during the request.
func (c *caller) hit(t testing.TB, method, path string, body any, options ...option) answer {
	t.Helper()
	a, err := c.try(t.Context(), t, method, path, body, options...)
	if err != nil && t.Context().Err() == nil {
		t.Error(err)
	}
	return a
}

// patiently repeats a request while the response asks for a retry. A change to a whole project may fail repeatedly, because faster changes inside the
// project come first.
func (c *caller) patiently(t testing.TB, method, path string, body any) {
	t.Helper()
	patient := c.as(c.token)
	patient.outages = true
	require.Eventually(t, func() bool {
		a := patient.hit(t, method, path, body)
		if p, isRefused := problemOf(a); isRefused && p.Code != "contention" {
			t.Errorf("%s %s: %s", method, path, a.body)
			return true
		}
		return a.ok()
	}, waitLimit, tick)
}

// Quotas are made, changed and deleted while the project claims and releases. In the end, their use must be equal to the held addresses. The audit at
// the end of the test checks the other figures.
func TestQuotasChangeWhileTheProjectClaims(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for i := range 4 {
		w.pool(t, fmt.Sprintf("p%d", i), obj{"cidr": fmt.Sprintf("10.%d.0.0/20", i)})
	}
	w.quota(t, "still", obj{}, obj{"claims": 1_000_000})
	var claimed, refused atomic.Int64
	stop := hammer(t, 8, endless, func(worker, turn int) {
		name := fmt.Sprintf("c%d-%d", worker, turn%5)
		a := w.hit(t, http.MethodPut, at("claims", name), obj{"spec": from(fmt.Sprintf("p%d", worker%4), 26+turn%5)})
		switch p, isRefused := problemOf(a); {
		case isRefused && p.Code == "quota_exceeded":
			refused.Add(1)
		case isRefused && p.Code != "pool_exhausted" && p.Code != "already_exists":
			t.Errorf("%s", a.body)
		case a.ok():
			claimed.Add(1)
		}
		if turn%5 == 4 {
			for i := range 4 {
				w.hit(t, http.MethodDelete, at("claims", fmt.Sprintf("c%d-%d", worker, i)), nil)
			}
		}
	})
	put := func(name string, scope, limits obj) {
		w.patiently(t, http.MethodPut, at("quotas", name), obj{"spec": obj{"scope": scope, "limits": limits}})
	}
	for i := range 40 {
		put("moving", obj{}, obj{"claims": 3 + i%20, "addresses": fmt.Sprint(100 + 100*(i%10))})
		put(fmt.Sprintf("of-p%d", i%4), obj{"poolRef": obj{"name": fmt.Sprintf("p%d", i%4)}}, obj{"addresses": fmt.Sprint(64 << (i % 8))})
		if i%3 == 2 {
			w.patiently(t, http.MethodDelete, at("quotas", "moving"), nil)
		}
	}
	stop()
	t.Logf("%d claims were made, %d refused", claimed.Load(), refused.Load())
	require.Positive(t, claimed.Load())
	require.Positive(t, refused.Load())
	blocks := map[string]string{}
	for _, claim := range all[client.IPClaim](t, w.caller, at("claims")) {
		blocks[claim.Metadata.Name] = claim.Status.AllocatedCIDR
	}
	for _, q := range all[client.Quota](t, w.caller, at("quotas")) {
		if q.Spec.Scope == nil || q.Spec.Scope.PoolRef == nil {
			require.Equal(t, client.QuotaUsed{Addresses: sum(blocks).String(), Claims: int64(len(blocks)), Pools: 4}, q.Status.Used, q.Metadata.Name)
		}
	}
}

// When the response to the revocation of a grant has arrived, no later claim may succeed, however many claims are under way.
func TestGrantIsRevokedWhileItsConsumerClaims(t *testing.T) {
	t.Parallel()
	town := setupMarket(t)
	north, south := town.north, town.south
	north.share(t, "market", "shared")
	c := south.consumer()
	for round, way := range []struct{ open, shut func() }{
		{func() { north.grant(t, "market", "south") }, func() { north.revoke(t, "market", "south") }},
		{func() { north.grant(t, "market", "*") }, func() { north.revoke(t, "market", "*") }},
		{func() { north.grant(t, "market", "south") }, func() { north.share(t, "market", "consumer") }},
	} {
		way.open()
		var shut atomic.Pointer[time.Time]
		var before, after atomic.Int64
		stop := hammer(t, 8, endless, func(worker, turn int) {
			begun := time.Now()
			name := fmt.Sprintf("r%d-%d-%d", round, worker, turn)
			a := c.hit(t, http.MethodPost, south.at("claims"), named(name, buy(obj{"prefixLength": 32})))
			late := shut.Load() != nil && begun.After(*shut.Load())
			if a.ok() {
				before.Add(1)
				if late {
					t.Errorf("%s was bound after the revocation", name)
				}
				c.hit(t, http.MethodDelete, south.at("claims", name), nil)
			} else if late {
				after.Add(1)
			}
		})
		require.Eventually(t, func() bool { return before.Load() > 20 }, waitLimit, tick)
		way.shut()
		now := time.Now()
		shut.Store(&now)
		require.Eventually(t, func() bool { return after.Load() > 20 }, waitLimit, tick)
		stop()
	}
}

// A project is deleted while requests use it and make objects in it. Either the project and all these objects remain, or everything is gone.
func TestProjectIsDeletedWhileItIsUsed(t *testing.T) {
	t.Parallel()
	w := setupKeys(t)
	var ids []string
	for round := range 6 {
		name := fmt.Sprintf("brief-%d", round)
		a := w.created(t, w.do(t, http.MethodPost, "/v1/projects", obj{"metadata": obj{"name": name}}))
		ids = append(ids, decode[client.Project](t, a).Metadata.UID)
		viewer := w.as(w.newKey(t, name, "viewer", "viewer"))
		stop := hammer(t, 3, 40, func(worker, turn int) {
			each := fmt.Sprintf("x%d-%d", worker, turn)
			for _, try := range []struct {
				c            *caller
				method, path string
				body         any
			}{
				{w.caller, http.MethodPut, in(name, "members", "corp:"+each), obj{"spec": obj{"role": "viewer"}}},
				{w.caller, http.MethodPut, in(name, "quotas", fmt.Sprintf("q%d", worker)), obj{"spec": obj{"limits": obj{"claims": turn}}}},
				{w.caller, http.MethodPost, in(name, "api-keys"), named(each, obj{"role": "viewer"})},
				{w.caller, http.MethodPut, in(name, "spaces", "default", "grants", each), nil},
				{viewer, http.MethodPut, in(name, "members", "corp:"+each), obj{"spec": obj{"role": "viewer"}}},
				{viewer, http.MethodDelete, in(name, "pools", each), nil},
			} {
				try.c.hit(t, try.method, try.path, try.body, key(each+try.path))
			}
		})
		require.Eventually(t, func() bool { return len(all[obj](t, w.caller, in(name, "members"))) > 8 }, waitLimit, tick)
		w.patiently(t, http.MethodDelete, "/v1/projects/"+name, nil)
		stop()
	}
	store, err := crdb.Open(t.Context(), w.dsn, crdb.Options{Region: region, MaxConnections: 2})
	require.NoError(t, err)
	defer store.Close()
	_, err = store.Purge(t.Context(), 100) // as the server's job does once a minute
	require.NoError(t, err)
	for _, id := range ids {
		require.Empty(t, rowsOf(w.dump(t), id))
	}
}

// rowsOf returns the rows that contain an id.
func rowsOf(dump map[string][]string, id string) (out []string) {
	for table, rows := range dump {
		for _, row := range rows {
			if mentions(map[string][]string{table: {row}}, id) > 0 {
				out = append(out, table+": "+row)
			}
		}
	}
	return out
}
