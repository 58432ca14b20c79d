package alloc_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/ipam"
)

const clients = 64

// servers makes services on one database, as that many processes would have them.
func (b *bundle) servers(t *testing.T, n int) []*alloc.Service {
	t.Helper()
	out := []*alloc.Service{b.Service}
	for len(out) < n {
		s, _ := b.server(t)
		out = append(out, s)
	}
	return out
}

// ledger is what the clients were told.
type ledger struct {
	mu   sync.Mutex
	held map[string]netip.Prefix // acknowledged claims
	odd  []error                 // answers that nobody should get
}

func newLedger() *ledger { return &ledger{held: map[string]netip.Prefix{}} }

func (l *ledger) claimed(c ipam.Claim) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[c.Name] = c.Block
}

func (l *ledger) released(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, name)
}

// expect notes an error whose code is not among those that can be.
func (l *ledger) expect(err error, codes ...ipam.Code) {
	if err == nil || slices.Contains(codes, ipam.CodeOf(err)) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.odd = append(l.odd, err)
}

// agrees demands that the database holds exactly what was acknowledged, and nothing twice.
func (l *ledger) agrees(t *testing.T, b *bundle) {
	t.Helper()
	require.Empty(t, l.odd)
	stored := map[string]netip.Prefix{}
	var blocks []netip.Prefix
	for _, c := range all(t, 500, func(n int, cursor string) (alloc.Page[ipam.Claim], error) {
		return b.ListClaims(b.ctx, project, alloc.Filter{}, n, cursor)
	}) {
		stored[c.Name] = c.Block
		blocks = append(blocks, c.Block)
	}
	require.Equal(t, l.held, stored)
	slices.SortFunc(blocks, space.Compare)
	for i := range blocks[min(1, len(blocks)):] {
		require.False(t, blocks[i].Overlaps(blocks[i+1]), "%v and %v", blocks[i], blocks[i+1])
	}
}

func TestParallelClientsFillAPoolAndEmptyItAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		servers  int
		pool     string
		strategy ipam.Strategy
		lengths  []int
	}{
		{"OneServerHostAddresses", 1, "10.0.0.0/23", ipam.BestFit, []int{32}},
		{"OneServerMixedLengths", 1, "10.0.0.0/20", ipam.FirstFit, []int{26, 27, 28, 29, 30}},
		{"ThreeServersHostAddresses", 3, "10.0.0.0/24", ipam.BestFit, []int{32}},
		{"ThreeServersRandom", 3, "2001:db8::/120", ipam.Random, []int{128}},
		{"ThreeServersMixedLengths", 3, "2001:db8::/48", ipam.BestFit, []int{54, 55, 56, 57}},
		{"ThreeServersFirstFit", 3, "10.0.0.0/25", ipam.FirstFit, []int{32}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			net := b.pool(t, root("net", c.pool, strategy(c.strategy)))
			servers := b.servers(t, c.servers)
			told := newLedger()
			each := func(run func(client int, s *alloc.Service)) {
				var wg sync.WaitGroup
				for i := range clients {
					wg.Go(func() { run(i, servers[i%len(servers)]) })
				}
				wg.Wait()
			}
			each(func(i int, s *alloc.Service) {
				for n, bits := 0, c.lengths[i%len(c.lengths)]; ; n++ {
					r, err := s.CreateClaim(b.ctx, project, claim(fmt.Sprintf("c%d-%d", i, n), "net", bits), alloc.Request{})
					switch told.expect(err, ipam.CodePoolExhausted, ipam.CodeContention); {
					case err == nil:
						told.claimed(r.Value)
					case !ipam.IsCode(err, ipam.CodeContention): // nothing was changed; go on
						return
					}
				}
			})
			told.agrees(t, b)
			// The longest of the lengths found no room any more, so nothing of its size is left.
			longest := slices.Max(c.lengths)
			require.Equal(t, "0", b.refuseClaim(t, claim("more", "net", longest), ipam.CodePoolExhausted).Figures.AvailableAddresses)
			held := new(big.Int)
			for _, p := range told.held {
				held.Add(held, space.Size(p))
			}
			require.Equal(t, space.Size(net.Block), held, "every address was handed out exactly once")

			// Everything is released at once, each by two clients: one of them does it, the other one finds it gone.
			names := make([]string, 0, len(told.held))
			for name := range told.held {
				names = append(names, name)
			}
			var done sync.Map
			each(func(i int, s *alloc.Service) {
				for n := i / 2; n < len(names); n += clients / 2 {
					err := s.DeleteClaim(b.ctx, project, names[n], alloc.Request{})
					told.expect(err, ipam.CodeNotFound)
					if err == nil {
						told.released(names[n])
						if _, twice := done.LoadOrStore(names[n], i); twice {
							told.expect(fmt.Errorf("%s was released twice", names[n]))
						}
					}
				}
			})
			told.agrees(t, b)
			require.Empty(t, told.held)
			require.Equal(t, []string{c.pool}, b.free(t, "net"), "and it is whole again")
			for _, s := range servers {
				waitFor(t, func() bool { return s.Lanes() == 0 }) // nobody is left waiting
			}
		})
	}
}

func TestParallelClaimsShareTransactions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	told := newLedger()
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			r, err := b.CreateClaim(b.ctx, project, claim(fmt.Sprintf("c%d", i), "net", 32), alloc.Request{})
			told.expect(err)
			told.claimed(r.Value)
		})
	}
	wg.Wait()
	told.agrees(t, b)
	require.Less(t, b.attempts.count("claim_group", "committed"), clients)
}

// Claims, releases, child pools, batches, reservations and retained blocks, all on one pool at once. Whatever the order,
// everybody is told what happened.
func TestParallelClientsDoEverythingAtOnce(t *testing.T) {
	t.Parallel()
	const workers, operations = 12, 20
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24", labelled("x", "y")))
	b.pool(t, root("spare", "10.1.0.0/26", labelled("x", "y")))
	servers := b.servers(t, 3)
	told := newLedger()
	busy := []ipam.Code{ipam.CodePoolExhausted, ipam.CodeContention}
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			w := &worker{bundle: b, s: servers[i%len(servers)], id: i, told: told, busy: busy, random: rand.New(rand.NewPCG(1, uint64(i)))}
			for n := range operations {
				w.step(n)
			}
			w.cleanUp()
		})
	}
	wg.Wait()
	told.agrees(t, b)
	_, err := b.patch("net", alloc.Request{}, reserving())
	require.NoError(t, err)
	require.Equal(t, []string{"10.0.0.0/24"}, b.free(t, "net"))
	require.Equal(t, []string{"10.1.0.0/26"}, b.free(t, "spare"))
}

// worker is one client of that test.
type worker struct {
	*bundle
	s      *alloc.Service
	id     int
	told   *ledger
	busy   []ipam.Code
	random *rand.Rand
	claims []string
	kept   []ipam.ID // retained allocations
	pools  []string
}

func (w *worker) name(kind string, n int) string { return fmt.Sprintf("%s%d-%d", kind, w.id, n) }

func (w *worker) step(n int) {
	switch w.random.IntN(8) {
	case 0, 1:
		c := claim(w.name("c", n), "net", 28+w.random.IntN(5))
		if w.random.IntN(3) == 0 {
			retain(&c)
		}
		r, err := w.s.CreateClaim(w.ctx, project, c, alloc.Request{})
		w.bound(err, r.Value)
	case 2:
		r, err := w.s.CreateClaim(w.ctx, project, selecting(w.name("s", n), matching("x", "y"), length(29)), alloc.Request{})
		w.bound(err, r.Value)
	case 3:
		r, err := w.s.CreateClaimBatch(w.ctx, project, []ipam.Claim{
			claim(w.name("b", n), "net", 31), claim(w.name("d", n), "spare", 32), selecting(w.name("e", n), matching("x", "y"), length(30)),
		}, alloc.Request{})
		w.bound(err, r.Value...)
	case 4:
		name := w.name("p", n)
		_, err := w.s.CreatePool(w.ctx, project, child(name, "net", 29, reserving(ipam.Reservation{First: 1})), alloc.Request{})
		w.told.expect(err, w.busy...)
		if err == nil {
			w.pools = append(w.pools, name)
			r, err := w.s.CreateClaim(w.ctx, project, claim(w.name("i", n), name, 31), alloc.Request{})
			w.bound(err, r.Value)
		}
	case 5:
		last := 1 + w.random.IntN(3)
		_, err := w.s.PatchPool(w.ctx, project, "net", alloc.Request{}, func(p ipam.Pool) (ipam.Pool, error) {
			p.Spec.Reservations = []ipam.Reservation{{Last: last}}
			return p, nil
		})
		w.told.expect(err, ipam.CodeBlockTaken, ipam.CodeContention)
	case 6, 7:
		if len(w.claims) > 0 {
			w.release(w.random.IntN(len(w.claims)))
		}
	}
}

func (w *worker) bound(err error, claims ...ipam.Claim) {
	w.told.expect(err, w.busy...)
	if err != nil {
		return
	}
	for _, c := range claims {
		w.told.claimed(c)
		w.claims = append(w.claims, c.Name)
	}
}

// release gives a claim up; a retained block is bound again by another claim, or deleted.
func (w *worker) release(i int) {
	name := w.claims[i]
	c, err := w.s.GetClaim(w.ctx, project, name)
	w.told.expect(err)
	w.untilDone(func() error { return w.s.DeleteClaim(w.ctx, project, name, alloc.Request{}) })
	w.told.released(name)
	w.claims = slices.Delete(w.claims, i, i+1)
	if c.Spec.ReclaimPolicy != ipam.ReclaimRetain {
		return
	}
	if w.random.IntN(2) == 0 {
		r, err := w.s.CreateClaim(w.ctx, project, again("again-"+name, c.AllocationID), alloc.Request{})
		if err == nil {
			w.bound(err, r.Value)
			return
		}
		w.told.expect(err, ipam.CodeContention)
	}
	w.kept = append(w.kept, c.AllocationID)
}

// untilDone repeats what is refused because of too much at once, and nothing else.
func (w *worker) untilDone(run func() error) {
	err := run()
	for ipam.IsCode(err, ipam.CodeContention) {
		err = run()
	}
	w.told.expect(err)
}

func (w *worker) cleanUp() {
	for len(w.claims) > 0 {
		w.release(0)
	}
	for _, id := range w.kept {
		w.untilDone(func() error { return w.s.DeleteAllocation(w.ctx, project, id.String(), alloc.Request{}) })
	}
	for _, name := range w.pools {
		w.untilDone(func() error { return w.s.DeletePool(w.ctx, project, name, alloc.Request{}) })
	}
}
