package alloc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

func TestFullClassStillReportsConflictsAndNewPools(t *testing.T) {
	t.Parallel()
	b := setup(t)
	far, _ := b.server(t)
	b.class(t, project, class("c", lengths(24, 32, 32)))
	b.pool(t, root("a", "10.0.0.0/31", backing("c")))
	b.pool(t, root("b", "10.1.0.0/31", backing("c")))
	try := func(name string, r usecase.Request) error {
		_, err := far.CreateClaim(b.ctx, project, byClass(name, "c"), r)
		return err
	}
	require.NoError(t, try("c0", key("k", "content")))
	for _, n := range []string{"c1", "c2", "c3"} {
		require.NoError(t, try(n, usecase.Request{}))
	}
	refused(t, try("c4", usecase.Request{}), ipam.CodePoolExhausted)
	b.clock.move(500 * time.Millisecond)
	assert.Equal(t, ipam.CodeAlreadyExists, ipam.CodeOf(try("c1", usecase.Request{})), "name exists")
	assert.Equal(t, ipam.CodeIdempotencyMismatch, ipam.CodeOf(try("zz", key("k", "other content"))), "key of another request")
	b.pool(t, root("new", "10.2.0.0/24", backing("c")))
	for i := range 8 {
		b.clock.move(900 * time.Millisecond)
		assert.NoError(t, try("late"+string(rune('a'+i)), usecase.Request{}), "a pool was added %d ms ago", 900*(i+1))
	}
}

func TestFullClassThatIsUnsharedIsNotFound(t *testing.T) {
	t.Parallel()
	b := setup(t)
	far, _ := b.server(t)
	b.class(t, ipam.PlatformProject, class("c", lengths(24, 32, 32), sharedClass))
	b.poolIn(t, ipam.PlatformProject, root("a", "10.0.0.0/31", backing("c")))
	b.poolIn(t, ipam.PlatformProject, root("b", "10.1.0.0/31", backing("c")))
	try := func(name string) error {
		_, err := far.CreateClaim(b.ctx, project, byClass(name, "c"), usecase.Request{})
		return err
	}
	for _, n := range []string{"c0", "c1", "c2", "c3"} {
		require.NoError(t, try(n))
	}
	refused(t, try("c4"), ipam.CodePoolExhausted)
	_, err := b.PatchClass(b.ctx, ipam.PlatformProject, "c", false, usecase.Request{}, func(c ipam.Class) (ipam.Class, error) {
		c.Spec.Visibility = ipam.VisibilityConsumer
		return c, nil
	})
	require.NoError(t, err)
	for range 3 {
		b.clock.move(900 * time.Millisecond)
		err := try("c5")
		assert.Equal(t, ipam.CodeNotFound, ipam.CodeOf(err), "%v", err)
	}
}

// between is a store that runs a function once, before the next group transaction.
type between struct {
	storage.Store
	mu  sync.Mutex
	run func()
}

func (g *between) InTx(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
	g.mu.Lock()
	run := g.run
	if op == "claim_group" {
		g.run = nil
	} else {
		run = nil
	}
	g.mu.Unlock()
	if run != nil {
		run()
	}
	return g.Store.InTx(ctx, op, locks, fn)
}

func TestReleaseDoesNotAffectAConcurrentlyRecreatedClaim(t *testing.T) {
	t.Parallel()
	for _, madeBy := range []string{"near", "far"} {
		t.Run("FirstMadeBy"+madeBy, func(t *testing.T) {
			b := setup(t)
			store, _ := b.store(t)
			g := &between{Store: store}
			far := b.serve(g)
			b.pool(t, root("a", "10.0.0.0/24"))
			b.pool(t, root("b", "10.1.0.0/24"))
			first := b.Service
			if madeBy == "far" {
				first = far
			}
			_, err := first.CreateClaim(b.ctx, project, claim("x", "a", 32), usecase.Request{})
			require.NoError(t, err)
			g.mu.Lock()
			g.run = func() { // while the release of x waits for the lock
				b.release(t, "x")
				b.clock.move(time.Millisecond)
				_, err := far.CreateClaim(b.ctx, project, claim("x", "b", 32), usecase.Request{})
				require.NoError(t, err)
			}
			g.mu.Unlock()
			err = far.DeleteClaim(b.ctx, project, "x", usecase.Request{})
			assert.Equal(t, ipam.CodeNotFound, ipam.CodeOf(err), "%v", err)
			_, err = b.GetClaim(b.ctx, project, "x", usecase.Reading{})
			assert.NoError(t, err, "the successor was not meant")
		})
	}
}

func TestCachedReleaseRecordsTheSameTrail(t *testing.T) {
	t.Parallel()
	b := setup(t)
	far, _ := b.server(t)
	b.class(t, project, class("c", lengths(24, 32, 30)))
	b.pool(t, root("a", "10.0.0.0/24", backing("c"), coolsDown(90*time.Second)))
	opts := []claimOption{withLabels("x", "y"), inScope("site", "z"), func(c *ipam.Claim) { c.Spec.OwnerRef = &ipam.OwnerRef{Kind: "k", Name: "\"n"} }}
	for _, c := range []ipam.Claim{byClass("x", "c", opts...), claim("y", "a", 29, opts[0], opts[2]), claim("z", "a", 31)} {
		_, err := far.CreateClaim(b.ctx, project, c, usecase.Request{})
		require.NoError(t, err)
		require.NoError(t, far.DeleteClaim(b.ctx, project, c.Name, usecase.Request{})) // the server has cached the claim
		_, err = far.CreateClaim(b.ctx, project, c, usecase.Request{})
		require.NoError(t, err)
		require.NoError(t, b.DeleteClaim(b.ctx, project, c.Name, usecase.Request{})) // the server must read the claim first
		var befores []map[string]any
		for _, e := range b.events(t, project, trail.EventFilter{}) {
			if e.After == nil && e.Name == c.Name {
				var before map[string]any
				require.NoError(t, json.Unmarshal(e.Before, &before))
				require.NotEmpty(t, before["allocatedCIDR"])
				require.NotEmpty(t, before["allocationRef"])
				delete(before, "allocatedCIDR") // the second claim has another block, because the first one cools down
				delete(before, "allocationRef")
				befores = append(befores, before)
			}
		}
		require.Len(t, befores, 2)
		require.Equal(t, befores[1], befores[0])
	}
	held, err := b.ListAllocations(b.ctx, project, paging.Filter{}, 50, "", usecase.Reading{})
	require.NoError(t, err)
	var cooling []ipam.Allocation
	for _, a := range held.Items {
		if a.Phase == ipam.PhaseCoolingDown {
			cooling = append(cooling, ipam.Allocation{
				Holder: a.Holder, CoolUntil: a.CoolUntil, OwnerRef: a.OwnerRef, Class: a.Class, ReclaimPolicy: a.ReclaimPolicy,
			})
		}
	}
	require.Len(t, cooling, 6)
	for _, a := range cooling {
		same := 0
		for _, other := range cooling {
			if assert.ObjectsAreEqual(a, other) {
				same++
			}
		}
		assert.Equal(t, 2, same, "%+v", a)
	}
}

func TestBatchClaimsWithEqualOwnersKeepThem(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("a", "10.0.0.0/24"))
	own := func(c *ipam.Claim) { c.Spec.OwnerRef = &ipam.OwnerRef{Kind: "k", Name: "n\"\\"} }
	b.batch(t, claim("x", "a", 32, own, withLabels("l", "v")), claim("y", "a", 32, own, withLabels("l", "v")))
	c, err := b.GetClaim(b.ctx, project, "y", usecase.Reading{})
	require.NoError(t, err)
	owner := &ipam.OwnerRef{Kind: "k", Name: "n\"\\"}
	require.Equal(t, owner, c.Spec.OwnerRef)
	require.Equal(t, map[string]string{"l": "v"}, c.Labels)
	held, err := b.ListAllocations(b.ctx, project, paging.Filter{}, 50, "", usecase.Reading{})
	require.NoError(t, err)
	claimed := 0
	for _, a := range held.Items {
		if a.Purpose == ipam.PurposeClaim {
			claimed++
			require.Equal(t, owner, a.OwnerRef, a.Block)
		}
	}
	require.Equal(t, 2, claimed)
}

func TestDeletedProjectIsNotFoundEvenIfTheClassIsFull(t *testing.T) {
	t.Parallel()
	b := setup(t)
	far, _ := b.server(t)
	b.class(t, ipam.PlatformProject, class("c", lengths(24, 32, 32), sharedClass))
	b.poolIn(t, ipam.PlatformProject, root("a", "10.0.0.0/31", backing("c")))
	_, err := b.CreateProject(b.ctx, ipam.Project{Metadata: meta("gone")}, usecase.Request{})
	require.NoError(t, err)
	_, err = far.CreateClaim(b.ctx, "gone", byClass("x", "c"), usecase.Request{})
	require.NoError(t, err)
	require.NoError(t, b.DeleteClaim(b.ctx, "gone", "x", usecase.Request{}))
	require.NoError(t, b.DeleteProject(b.ctx, "gone", usecase.Request{}))
	for _, n := range []string{"p", "q"} {
		_, err = b.CreateClaim(b.ctx, project, byClass(n, "c"), usecase.Request{})
		require.NoError(t, err)
	}
	_, err = far.CreateClaim(b.ctx, "gone", byClass("y", "c"), usecase.Request{})
	assert.Equal(t, ipam.CodeNotFound, ipam.CodeOf(err), "%v", err)
}

// Requests with the same idempotency key but different names run on three servers. They create only one claim, although the servers have cached the
// pool.
func TestOneKeyWithSeveralNamesCreatesOneClaim(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("a", "10.0.0.0/24"))
	var servers []*alloc.Service
	for i := range 3 {
		s, _ := b.server(t)
		_, err := s.CreateClaim(b.ctx, project, claim(fmt.Sprintf("warm%d", i), "a", 32), usecase.Request{})
		require.NoError(t, err)
		servers = append(servers, s)
	}
	for round := range 10 {
		var wg sync.WaitGroup
		var mu sync.Mutex
		got := map[ipam.ID]int{}
		for i := range 24 {
			wg.Go(func() {
				c := claim(fmt.Sprintf("n%d-%d", round, i), "a", 32)
				r, err := servers[i%3].CreateClaim(b.ctx, project, c, key(fmt.Sprintf("k%d", round), "same"))
				mu.Lock()
				defer mu.Unlock()
				if assert.NoError(t, err) {
					got[r.Value.UID]++
				}
			})
		}
		wg.Wait()
		require.Len(t, got, 1)
		b.clock.move(20e9)
	}
	page, err := b.ListClaims(b.ctx, project, paging.Filter{}, 100, "", usecase.Reading{})
	require.NoError(t, err)
	require.Len(t, page.Items, 13)
}

// A PATCH sets the policy Retain, while another server releases the claim from its cache. If the PATCH succeeds, the release must retain the block.
func TestConcurrentReleaseFollowsACommittedPatch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	far, _ := b.server(t)
	b.pool(t, root("a", "10.0.0.0/24"))
	for i := range 30 {
		n := fmt.Sprintf("x%d", i)
		made, err := far.CreateClaim(b.ctx, project, claim(n, "a", 32), usecase.Request{})
		require.NoError(t, err)
		var patched, gone error
		var wg sync.WaitGroup
		wg.Go(func() {
			_, patched = b.PatchClaim(b.ctx, project, n, usecase.Request{}, func(c ipam.Claim) (ipam.Claim, error) { c.Spec.ReclaimPolicy = ipam.ReclaimRetain; return c, nil })
		})
		wg.Go(func() { gone = far.DeleteClaim(b.ctx, project, n, usecase.Request{}) })
		wg.Wait()
		require.NoError(t, gone)
		a, err := b.GetAllocation(b.ctx, project, made.Value.AllocationID.String(), usecase.Reading{})
		if patched == nil {
			require.NoError(t, err)
			require.Equal(t, ipam.PhaseRetained, a.Phase)
		} else {
			require.Error(t, err)
			t.Log(i, "release first:", patched)
		}
	}
}

// Transactions on two pools retry the same old idempotency keys, in opposite order, and lock the rows of these keys.
func TestRetriedKeysInOppositeOrderDoNotDeadlock(t *testing.T) {
	t.Parallel()
	b := setup(t)
	far, seen := b.server(t)
	for i, p := range []string{"a", "b"} {
		b.pool(t, root(p, fmt.Sprintf("10.%d.0.0/24", i)))
	}
	for k := range 16 {
		_, err := far.CreateClaim(b.ctx, project, claim(fmt.Sprintf("c%d", k), []string{"a", "b"}[k%2], 32), key(fmt.Sprintf("k%d", k), "x"))
		require.NoError(t, err)
	}
	for round := range 15 {
		b.clock.move(time.Minute) // the server trusts its cache again
		var wg sync.WaitGroup
		for i := range 33 {
			for j, p := range []string{"a", "b"} {
				k := i % 16
				if j == 1 {
					k = 15 - k
				}
				wg.Go(func() {
					_, err := far.CreateClaim(b.ctx, project, claim(fmt.Sprintf("r%d-%d%s", round, i, p), p, 32), key(fmt.Sprintf("k%d", k), "y"))
					if ipam.CodeOf(err) != ipam.CodeIdempotencyMismatch {
						t.Error(err)
					}
				})
			}
		}
		wg.Wait()
	}
	require.Zero(t, seen.count("claim_group", "again"), "no transaction was run again because two waited for each other")
}
