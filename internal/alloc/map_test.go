package alloc_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/allocations"
	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// mapped reads the map of a pool, and requires that each cell agrees with the list of the pool's allocations.
func (b *bundle) mapped(t testing.TB, s *alloc.Service, pool string, within netip.Prefix, depth int) allocations.Map {
	t.Helper()
	held := all(t, 100, func(n int, c string) (paging.Page[ipam.Allocation], error) {
		return s.ListAllocations(b.ctx, project, paging.Filter{Pool: ref(pool)}, n, c, usecase.Reading{})
	})
	m, err := s.GetPoolMap(b.ctx, project, pool, within, depth, usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, min(m.Within.Bits()+depth, freespace.Width(m.Within)), m.Bits)
	next := 0
	for i, run := range m.Runs {
		require.Equal(t, next, run.First, "no cell is left out")
		require.Positive(t, run.Count)
		for next < run.First+run.Count {
			cell, ok := freespace.NthBlock(m.Within, m.Bits, uint64(next))
			require.True(t, ok)
			requireCell(t, cell, run, held)
			next++
		}
		if i > 0 {
			before := m.Runs[i-1]
			same := before.Mixed == run.Mixed && (before.By == nil) == (run.By == nil) && (run.By == nil || before.By.ID == run.By.ID)
			require.False(t, same, "what is the same is one run")
		}
	}
	require.Equal(t, 1<<(m.Bits-m.Within.Bits()), next)
	return m
}

func requireCell(t testing.TB, cell netip.Prefix, run allocations.Run, held []ipam.Allocation) {
	t.Helper()
	var by *ipam.Allocation
	mixed := false
	for i, a := range held {
		if freespace.Contains(a.Block, cell) {
			by = &held[i]
		} else if freespace.Contains(cell, a.Block) {
			mixed = true
		}
	}
	require.Equal(t, mixed, run.Mixed, "%s", cell)
	require.Equal(t, by, run.By, "%s", cell)
}

// randomBlock returns a random block of a pool, and a depth.
func randomBlock(rng *rand.Rand, pool netip.Prefix) (netip.Prefix, int) {
	var bits [16]byte
	for i := range bits {
		bits[i] = byte(rng.Uint32())
	}
	return freespace.Sub(pool, pool.Bits()+rng.IntN(freespace.Width(pool)-pool.Bits()+1), bits), 1 + rng.IntN(allocations.MaxMapDepth)
}

// The test makes a random mix of claims, retained blocks, reservations, child pools, cool-downs and releases. Then the map of the pool must agree
// with the list of its allocations.
func TestPoolMapMatchesTheAllocations(t *testing.T) {
	t.Parallel()
	b := setup(t)
	neighbour := b.neighbour(t)
	for name, in := range map[string]struct {
		cidr     string
		lengths  [2]int
		reserved ipam.Reservation
	}{
		"four": {"10.0.0.0/20", [2]int{21, 32}, ipam.Reservation{From: address("10.0.0.3"), To: address("10.0.0.70"), Reason: "devices"}},
		"six":  {"2001:db8::/32", [2]int{34, 128}, ipam.Reservation{CIDR: block("2001:db8:ffff::/48")}},
	} {
		b.pool(t, root(name, in.cidr, visible(ipam.VisibilityShared), strategy(ipam.Random), reserving(in.reserved)))
		_, err := b.PutPoolGrant(b.ctx, project, name, other, usecase.Request{})
		require.NoError(t, err)
		rng := rand.New(rand.NewPCG(1, uint64(len(in.cidr))))
		length := func() int { return in.lengths[0] + rng.IntN(in.lengths[1]-in.lengths[0]+1) }
		var own []string
		for i := range 60 {
			n := fmt.Sprintf("%s-%d", name, i)
			switch rng.IntN(6) {
			case 0:
				_, err = b.CreateClaim(neighbour, other, claim(n, name, length()), usecase.Request{})
			case 1:
				_, err = b.CreatePool(b.ctx, project, child(n, name, length()), usecase.Request{})
			case 2:
				if len(own) > 0 {
					b.release(t, own[0])
					own = own[1:]
				}
			case 3:
				c := claim(n, name, length(), retain)
				if _, err = b.CreateClaim(b.ctx, project, c, usecase.Request{}); err == nil {
					b.release(t, n)
				}
			default:
				if _, err = b.CreateClaim(b.ctx, project, claim(n, name, length()), usecase.Request{}); err == nil {
					own = append(own, n)
				}
			}
			if err != nil {
				refused(t, err, ipam.CodePoolExhausted)
			}
			if i == 30 { // later releases cool down
				_, err := b.PatchPool(b.ctx, project, name, usecase.Request{}, func(p ipam.Pool) (ipam.Pool, error) {
					p.Spec.ReuseAfter = new(time.Hour)
					return p, nil
				})
				require.NoError(t, err)
			}
			if i%5 == 0 {
				b.mapped(t, b.Service, name, netip.Prefix{}, allocations.MaxMapDepth)
				for range 5 {
					within, depth := randomBlock(rng, block(in.cidr))
					b.mapped(t, b.Service, name, within, depth)
				}
			}
		}
	}
}

func TestPoolMapNamesTheHolderOfACell(t *testing.T) {
	t.Parallel()
	b := setup(t)
	neighbour := b.neighbour(t)
	b.pool(t, root("net", "10.0.0.0/8", visible(ipam.VisibilityShared)))
	_, err := b.PutPoolGrant(b.ctx, project, "net", other, usecase.Request{})
	require.NoError(t, err)
	b.claim(t, claimOf("own", "net", exactly("10.0.0.0/9")))
	_, err = b.CreateClaim(neighbour, other, claimOf("theirs", "net", exactly("10.255.255.255/32")), usecase.Request{})
	require.NoError(t, err)

	m := b.mapped(t, b.Service, "net", netip.Prefix{}, 8)
	require.Equal(t, 16, m.Bits)
	require.Len(t, m.Runs, 3)
	require.Equal(t, allocations.Run{First: 0, Count: 128, By: m.Runs[0].By}, m.Runs[0])
	require.Equal(t, ref("own"), m.Runs[0].By.Holder)
	require.Equal(t, allocations.Run{First: 128, Count: 127}, m.Runs[1])
	require.Equal(t, allocations.Run{First: 255, Count: 1, Mixed: true}, m.Runs[2])

	m = b.mapped(t, b.Service, "net", block("10.255.255.255/32"), 8)
	require.Equal(t, 32, m.Bits)
	require.Len(t, m.Runs, 1)
	require.Equal(t, ipam.Ref{Project: other}, m.Runs[0].By.Holder, "a claim of another project is not named")
	require.Empty(t, m.Runs[0].By.CreatedBy)

	_, err = b.GetPoolMap(neighbour, project, "net", netip.Prefix{}, 8, usecase.Reading{})
	refused(t, err, ipam.CodeNotFound)
}

func TestPoolMapRefusesABlockOutsideThePool(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	for _, bad := range []string{"10.1.0.0/24", "10.0.0.0/15", "2001:db8::/64"} {
		_, err := b.GetPoolMap(b.ctx, project, "net", block(bad), 8, usecase.Reading{})
		require.Equal(t, "query:within", refused(t, err, ipam.CodeInvalidArgument).Fields[0].Pointer)
	}
	for _, bad := range []int{-1, 0, 9} {
		_, err := b.GetPoolMap(b.ctx, project, "net", netip.Prefix{}, bad, usecase.Reading{})
		require.Equal(t, "query:depth", refused(t, err, ipam.CodeInvalidArgument).Fields[0].Pointer)
	}
	_, err := b.GetPoolMap(b.ctx, project, "none", netip.Prefix{}, 8, usecase.Reading{})
	refused(t, err, ipam.CodeNotFound)
	m := b.mapped(t, b.Service, "net", netip.Prefix{}, 1)
	require.Equal(t, []allocations.Run{{First: 0, Count: 2}}, m.Runs, "an empty pool is free")
}

// If a pool serves several regions, each server returns the same map. The map shows the held, lent and free blocks of all regions.
func TestPoolMapCoversAllRegions(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	p := w.served(t, "wide", "10.0.0.0/20")
	rng := rand.New(rand.NewPCG(2, 3))
	var made []string
	for i := range 40 {
		r := []string{region, eu, us}[i%3]
		if i%4 == 3 {
			require.NoError(t, w.in[r].DeleteClaim(w.ctx, project, made[0], usecase.Request{}))
			made = made[1:]
			continue
		}
		name := fmt.Sprintf("c%d", i)
		_, err := w.claimIn(w.ctx, r, name, "wide", 24+rng.IntN(9))
		require.NoError(t, err)
		made = append(made, name)
		if i%3 == 0 {
			within, depth := randomBlock(rng, p.Block)
			w.mapped(t, w.in[r], "wide", within, depth)
			w.mapped(t, w.in[eu], "wide", netip.Prefix{}, allocations.MaxMapDepth)
		}
	}
}
