package alloc_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Clients make and release claims, batches, child pools, reservations and retained blocks in one pool at the same time. Each client gets the true
// result of its requests.
func TestConcurrentMixedOperationsKeepThePoolConsistent(t *testing.T) {
	t.Parallel()
	const workers, operations = 12, 20
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24", labelled("x", "y")))
	b.pool(t, root("spare", "10.1.0.0/26", labelled("x", "y")))
	servers := b.servers(t, 3)
	results := newLedger()
	busy := []ipam.Code{ipam.CodePoolExhausted, ipam.CodeContention}
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			w := &worker{bundle: b, s: servers[i%len(servers)], id: i, results: results, busy: busy, random: rand.New(rand.NewPCG(1, uint64(i)))}
			for n := range operations {
				w.step(n)
			}
			w.cleanUp()
		})
	}
	wg.Wait()
	results.agrees(t, b)
	_, err := b.patch("net", usecase.Request{}, reserving())
	require.NoError(t, err)
	require.Equal(t, []string{"10.0.0.0/24"}, b.free(t, "net"))
	require.Equal(t, []string{"10.1.0.0/26"}, b.free(t, "spare"))
}

// worker is one client of the test above.
type worker struct {
	*bundle
	s       *alloc.Service
	id      int
	results *ledger
	busy    []ipam.Code
	random  *rand.Rand
	claims  []string
	kept    []ipam.ID // retained allocations
	pools   []string
}

func (w *worker) name(kind string, n int) string { return fmt.Sprintf("%s%d-%d", kind, w.id, n) }

func (w *worker) step(n int) {
	switch w.random.IntN(8) {
	case 0, 1:
		c := claim(w.name("c", n), "net", 28+w.random.IntN(5))
		if w.random.IntN(3) == 0 {
			retain(&c)
		}
		r, err := w.s.CreateClaim(w.ctx, project, c, usecase.Request{})
		w.bound(err, r.Value)
	case 2:
		r, err := w.s.CreateClaim(w.ctx, project, selecting(w.name("s", n), matching("x", "y"), length(29)), usecase.Request{})
		w.bound(err, r.Value)
	case 3:
		r, err := w.s.CreateClaimBatch(w.ctx, project, []ipam.Claim{
			claim(w.name("b", n), "net", 31), claim(w.name("d", n), "spare", 32), selecting(w.name("e", n), matching("x", "y"), length(30)),
		}, usecase.Request{})
		w.bound(err, r.Value...)
	case 4:
		name := w.name("p", n)
		_, err := w.s.CreatePool(w.ctx, project, child(name, "net", 29, reserving(ipam.Reservation{First: 1})), usecase.Request{})
		w.results.expect(err, w.busy...)
		if err == nil {
			w.pools = append(w.pools, name)
			r, err := w.s.CreateClaim(w.ctx, project, claim(w.name("i", n), name, 31), usecase.Request{})
			w.bound(err, r.Value)
		}
	case 5:
		last := 1 + w.random.IntN(3)
		_, err := w.s.PatchPool(w.ctx, project, "net", usecase.Request{}, func(p ipam.Pool) (ipam.Pool, error) {
			p.Spec.Reservations = []ipam.Reservation{{Last: last}}
			return p, nil
		})
		w.results.expect(err, ipam.CodeBlockTaken, ipam.CodeContention)
	case 6, 7:
		if len(w.claims) > 0 {
			w.release(w.random.IntN(len(w.claims)))
		}
	}
}

func (w *worker) bound(err error, claims ...ipam.Claim) {
	w.results.expect(err, w.busy...)
	if err != nil {
		return
	}
	for _, c := range claims {
		w.results.claimed(c)
		w.claims = append(w.claims, c.Name)
	}
}

// release releases a claim. If the block is retained, another claim binds it, or the worker deletes it at the end.
func (w *worker) release(i int) {
	name := w.claims[i]
	c, err := w.s.GetClaim(w.ctx, project, name, usecase.Reading{})
	w.results.expect(err)
	w.untilDone(func() error { return w.s.DeleteClaim(w.ctx, project, name, usecase.Request{}) })
	w.results.released(name)
	w.claims = slices.Delete(w.claims, i, i+1)
	if c.Spec.ReclaimPolicy != ipam.ReclaimRetain {
		return
	}
	if w.random.IntN(2) == 0 {
		r, err := w.s.CreateClaim(w.ctx, project, again("again-"+name, c.AllocationID), usecase.Request{})
		if err == nil {
			w.bound(err, r.Value)
			return
		}
		w.results.expect(err, ipam.CodeContention)
	}
	w.kept = append(w.kept, c.AllocationID)
}

// untilDone repeats a request while the server refuses it for contention. It records other errors.
func (w *worker) untilDone(run func() error) {
	err := run()
	for ipam.IsCode(err, ipam.CodeContention) {
		err = run()
	}
	w.results.expect(err)
}

func (w *worker) cleanUp() {
	for len(w.claims) > 0 {
		w.release(0)
	}
	for _, id := range w.kept {
		w.untilDone(func() error { return w.s.DeleteAllocation(w.ctx, project, id.String(), usecase.Request{}) })
	}
	for _, name := range w.pools {
		w.untilDone(func() error { return w.s.DeletePool(w.ctx, project, name, usecase.Request{}) })
	}
}
