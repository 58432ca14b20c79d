package alloc_test

import (
	"fmt"
	"math/big"
	"net/netip"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

const clients = 64

// servers returns n services on one database. They work like n processes.
func (b *bundle) servers(t *testing.T, n int) []*alloc.Service {
	t.Helper()
	out := []*alloc.Service{b.Service}
	for len(out) < n {
		s, _ := b.server(t)
		out = append(out, s)
	}
	return out
}

// ledger records the results that the clients received.
type ledger struct {
	mu   sync.Mutex
	held map[string]netip.Prefix // acknowledged claims
	odd  []error                 // unexpected errors
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

// expect records an error unless its code is one of codes.
func (l *ledger) expect(err error, codes ...ipam.Code) {
	if err == nil || slices.Contains(codes, ipam.CodeOf(err)) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.odd = append(l.odd, err)
}

// agrees requires that the database contains exactly the acknowledged claims, and that their blocks do not overlap.
func (l *ledger) agrees(t *testing.T, b *bundle) {
	t.Helper()
	require.Empty(t, l.odd)
	stored := map[string]netip.Prefix{}
	var blocks []netip.Prefix
	for _, c := range all(t, 500, func(n int, cursor string) (paging.Page[ipam.Claim], error) {
		return b.ListClaims(b.ctx, project, paging.Filter{}, n, cursor, usecase.Reading{})
	}) {
		stored[c.Name] = c.Block
		blocks = append(blocks, c.Block)
	}
	require.Equal(t, l.held, stored)
	slices.SortFunc(blocks, freespace.Compare)
	for i := range blocks[min(1, len(blocks)):] {
		require.False(t, blocks[i].Overlaps(blocks[i+1]), "%v and %v", blocks[i], blocks[i+1])
	}
}

func TestConcurrentClientsFillAndEmptyAPool(t *testing.T) {
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
			results := newLedger()
			each := func(run func(client int, s *alloc.Service)) {
				var wg sync.WaitGroup
				for i := range clients {
					wg.Go(func() { run(i, servers[i%len(servers)]) })
				}
				wg.Wait()
			}
			each(func(i int, s *alloc.Service) {
				for n, bits := 0, c.lengths[i%len(c.lengths)]; ; n++ {
					r, err := s.CreateClaim(b.ctx, project, claim(fmt.Sprintf("c%d-%d", i, n), "net", bits), usecase.Request{})
					switch results.expect(err, ipam.CodePoolExhausted, ipam.CodeContention); {
					case err == nil:
						results.claimed(r.Value)
					case !ipam.IsCode(err, ipam.CodeContention): // contention changes nothing, so continue
						return
					}
				}
			})
			results.agrees(t, b)
			// The pool has no room for a claim with the longest length, so it must have no free address.
			longest := slices.Max(c.lengths)
			require.Equal(t, "0", b.refuseClaim(t, claim("more", "net", longest), ipam.CodePoolExhausted).Figures.AvailableAddresses)
			held := new(big.Int)
			for _, p := range results.held {
				held.Add(held, freespace.Size(p))
			}
			require.Equal(t, freespace.Size(net.Block), held, "every address was handed out exactly once")

			// Two clients release each claim at the same time. One of them succeeds, and the other gets not_found.
			names := make([]string, 0, len(results.held))
			for name := range results.held {
				names = append(names, name)
			}
			var done sync.Map
			each(func(i int, s *alloc.Service) {
				for n := i / 2; n < len(names); n += clients / 2 {
					err := s.DeleteClaim(b.ctx, project, names[n], usecase.Request{})
					results.expect(err, ipam.CodeNotFound)
					if err == nil {
						results.released(names[n])
						if _, twice := done.LoadOrStore(names[n], i); twice {
							results.expect(fmt.Errorf("%s was released twice", names[n]))
						}
					}
				}
			})
			results.agrees(t, b)
			require.Empty(t, results.held)
			require.Equal(t, []string{c.pool}, b.free(t, "net"), "and it is whole again")
			for _, s := range servers {
				waitFor(t, func() bool { return s.LockedContainers() == 0 }) // no request waits
			}
		})
	}
}

func TestConcurrentClaimsShareTransactions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	results := newLedger()
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			r, err := b.CreateClaim(b.ctx, project, claim(fmt.Sprintf("c%d", i), "net", 32), usecase.Request{})
			results.expect(err)
			results.claimed(r.Value)
		})
	}
	wg.Wait()
	results.agrees(t, b)
	require.Less(t, b.attempts.count("claim_group", "committed"), clients)
}
