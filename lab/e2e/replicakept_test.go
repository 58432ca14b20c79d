package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/client/follow"
	"github.com/carve-ipam/carve/internal/testkit/pgfault"
)

// kept starts replicas. The returned function ends them.
func kept(t *testing.T, replicas ...*replica) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for _, r := range replicas {
		running.Go(func() { r.keep(ctx, t) })
	}
	end = func() { cancel(); running.Wait() }
	t.Cleanup(end)
	return end
}

// Servers and the database are killed, and connections are cut before and after COMMIT. Each follower reconnects to any server that responds. In the
// end, each copy must be equal to the lists, and no follower may have needed to start again from the lists.
func TestReplicaEqualsTheListsAfterServersAndDatabaseWereKilled(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	if said, err := strconv.ParseUint(os.Getenv("CARVE_REPLICA_SEED"), 10, 64); err == nil {
		seed = said
	}
	t.Logf("CARVE_REPLICA_SEED=%d", seed)
	e := newEstate(t)
	e.furnish(t)
	replicas := []*replica{
		newReplica(project, e.sites), newReplica(project, e.sites, byStream), newReplica("north", e.sites), newReplica("north", e.sites, byStream),
	}
	end := kept(t, replicas...)
	claims := e.cache(t)
	e.storm(seed)

	ctx, still := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	var mu sync.Mutex
	done := map[string]int{}
	for i := range 6 {
		w := &writer{estate: e, number: i, dice: rand.New(rand.NewPCG(seed, uint64(i))), mu: &mu, done: done}
		writing.Go(func() { w.run(ctx, t) })
	}
	e.disasters(t)
	never := func() (ops []string) {
		mu.Lock()
		defer mu.Unlock()
		for _, op := range []string{
			"createClaim", "createClaimBatch", "patchClaim", "deleteClaim", "releaseClaims", "deleteAllocation", "attachConsumer", "detachConsumer", "putConsumer",
			"endConsumer", "renewConsumers", "createPool", "patchPool", "deletePool", "createClass", "patchClass", "deleteClass", "putQuota", "deleteQuota",
		} {
			if done[op] == 0 {
				ops = append(ops, op)
			}
		}
		return ops
	}
	require.True(t, became(t.Context(), waitLimit, func() bool { return len(never()) == 0 }), "never succeeded: %v", never())
	still()
	writing.Wait()
	e.calm()
	t.Log("what succeeded:", done, "faults:", e.ways[0].Injected())
	for _, r := range replicas {
		r.settles(t, e.sites[0])
	}
	require.True(t, became(t.Context(), waitLimit/2, func() bool {
		return equal(all[client.IPClaim](t, e.sites[0], at("claims")), claims.List())
	}), "the client's cache")
	end()
	for _, r := range replicas {
		t.Logf("%s: %d changes, %d objects", r.project, r.told, len(r.objects))
		require.Equal(t, 1, r.lists, "no cursor expires for a crash")
		require.Positive(t, r.told)
	}
	for i := range e.servers {
		require.NoError(t, e.servers[i].Stop())
	}
	auditClean(t, e.db.DSN())
}

// disasters kills each server and the database several times.
func (e *estate) disasters(t *testing.T) {
	t.Helper()
	for i := range 4 {
		after(t.Context(), time.Second)
		e.killServer(t, i%2)
		after(t.Context(), time.Second)
		e.killDatabase(t)
	}
	after(t.Context(), 2*time.Second)
}

// after waits for a time.
func after(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// cache returns a cache of the client library. It sends its requests to any available server.
func (e *estate) cache(t *testing.T) *follow.Cache[client.IPClaim] {
	t.Helper()
	turn := 0
	carve, err := client.New("http://127.0.0.1", client.WithHTTP(&http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		turn++
		r = r.Clone(r.Context())
		r.URL.Host = *e.sites[turn%len(e.sites)].addr.Load()
		return http.DefaultTransport.RoundTrip(r)
	})}))
	require.NoError(t, err)
	source := follow.Claims(carve, project, "")
	source.Wait = time.Second
	cache := follow.NewCache(source, nil, nil)
	ctx, end := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = cache.Run(ctx) })
	t.Cleanup(func() { end(); running.Wait() })
	return cache
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The check of the replicas must detect two faulty copies: one that lost one change of one object, and one that resumes from now after each response.
func TestReplicaCheckDetectsALostChange(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.pool(t, "p", obj{"cidr": "10.0.0.0/16"})
	sites := []*caller{w.caller}
	right, stream := newReplica(project, sites), newReplica(project, sites, byStream)
	loses := newReplica(project, sites, func(r *replica) {
		r.loses = func(kind, name string) bool { return kind == "IPClaim" && name == "c1" }
	})
	forgets := newReplica(project, sites, func(r *replica) { r.forgets = true })
	ctx := t.Context()
	for _, r := range []*replica{right, stream, loses, forgets} {
		require.True(t, r.list(ctx, t))
	}
	kept(t, right, stream, loses)
	for i := range 3 {
		w.claim(t, fmt.Sprint("c", i), from("p", 28))
	}
	attempts := 0 // while any database of the cluster runs a transaction, "now" lies before that transaction, so the feed still sends the later changes
	require.True(t, became(ctx, waitLimit, func() bool {
		attempts++
		if !forgets.list(ctx, t) {
			return false
		}
		for i := range 3 {
			w.claim(t, fmt.Sprintf("f%d-%d", attempts, i), from("p", 32))
		}
		return forgets.poll(ctx, t) && len(forgets.differs(ctx, t, w.caller)) == 6
	}), "three claims, with their allocations")
	right.settles(t, w.caller)
	stream.settles(t, w.caller)
	require.True(t, became(ctx, waitLimit, func() bool { return len(loses.differs(ctx, t, w.caller)) == 1 }))
	require.Equal(t, []string{"IPClaim c1 is missing"}, loses.differs(ctx, t, w.caller))
}

// A follower that resumes from the largest id that it has seen loses late commits. The audit trail shows ids, so the test can follow it in this way.
func TestReplicaCheckDetectsAFollowerByTheLargestID(t *testing.T) {
	t.Parallel()
	dsn := database(t)
	way, err := pgfault.Start(context.WithoutCancel(t.Context()), dsn)
	require.NoError(t, err)
	t.Cleanup(way.Close)
	w := newWorld(t, newCaller(serve(t, dsn)), dsn)
	slow := newCaller(serve(t, way.DSN()))
	w.newProject(t, project)
	w.pool(t, "p", obj{"cidr": "10.0.0.0/24"})
	w.pool(t, "q", obj{"cidr": "10.0.1.0/24"})
	right := newReplica(project, []*caller{w.caller})
	twin := newReplica(project, []*caller{w.caller})
	require.True(t, twin.list(t.Context(), t))
	kept(t, right)
	seen := twin.byID(t, "")

	held := func(i int) (lost bool) {
		name := fmt.Sprint("late", i)
		gate := pgfault.NewGate()
		way.SetRules(pgfault.Once(pgfault.On(pgfault.Commit, pgfault.Hold(gate))))
		var late sync.WaitGroup
		late.Go(func() {
			_, _ = slow.try(t.Context(), t, http.MethodPut, at("claims", name), obj{"spec": from("q", 32)})
		})
		_, err = gate.Await(t.Context())
		require.NoError(t, err)
		w.claim(t, fmt.Sprint("early", i), from("p", 32))
		seen = twin.byID(t, seen)
		gate.Open()
		late.Wait()
		seen = twin.byID(t, seen)
		right.settles(t, w.caller)
		return slices.Contains(twin.differs(t.Context(), t, w.caller), "IPClaim "+name+" is missing")
	}
	attempts := 0 // on a busy machine, the database ends a held transaction, and the server begins another one with a new id
	require.True(t, became(t.Context(), waitLimit, func() bool { attempts++; return held(attempts) }))
}

// byID reads the audit trail after an id and applies the changes to the copy. It returns the largest id.
func (r *replica) byID(t *testing.T, after string) string {
	t.Helper()
	c, last := r.next(), after
	for _, e := range all[client.AuditEvent](t, c, in(r.project, "audit-events")) {
		id := e.ID
		if id <= after || e.Resource.Kind != "IPClaim" {
			continue
		}
		last = max(last, id)
		a := c.do(t, http.MethodGet, in(r.project, "claims", e.Resource.Name), nil)
		r.tell(change{Kind: "IPClaim", Name: e.Resource.Name, Type: map[bool]string{true: "Put", false: "Delete"}[a.ok()], Object: decode[obj](t, a)})
	}
	return last
}
