package logspike

import (
	"context"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
)

// shelf stores pages in memory.
type shelf map[pageKey][]byte

func (s shelf) load(_ context.Context, items []*item) error {
	for _, it := range items {
		body, there := s[pageKey{it.block, it.version}]
		if !there {
			return errReplaced
		}
		n, err := decodeNode(it.block, body)
		if err != nil {
			return err
		}
		it.node = n
	}
	return nil
}

// A tree with pages must give the same blocks as a list of all addresses, after any number of snapshots, evictions and restarts.
func TestTreeAgreesWithAListOfAddresses(t *testing.T) {
	t.Parallel()
	pool := netip.MustParsePrefix("10.0.0.0/18")
	random := rand.New(rand.NewPCG(7, 11))
	pages := shelf{}
	tr := newTree(pool, pages.load)
	held := map[netip.Prefix]bool{}
	busy := make([]bool, 1<<14)
	mark := func(b netip.Prefix, to bool) {
		a := b.Addr().As4()
		from := int(a[2])<<8 | int(a[3])
		for i := range 1 << (32 - b.Bits()) {
			require.NotEqual(t, to, busy[from+i], b)
			busy[from+i] = to
		}
	}
	lowest := func(bits int) int {
		size := 1 << (32 - bits)
	next:
		for at := 0; at < len(busy); at += size {
			for i := range size {
				if busy[at+i] {
					continue next
				}
			}
			return at
		}
		return -1
	}
	version := int64(0)
	for step := range 60_000 {
		switch n := random.IntN(100); {
		case n < 50+step%40: // fill and empty the pool by turns
			bits := 32 - random.IntN(4)*random.IntN(2)
			want := lowest(bits)
			b, err := tr.takeFirst(t.Context(), tr.root, bits)
			require.NoError(t, err)
			require.Equal(t, want >= 0, b.IsValid())
			if want >= 0 {
				addr, _ := freespace.NthAddress(pool, uint64(want))
				require.Equal(t, netip.PrefixFrom(addr, bits), b)
				mark(b, true)
				held[b] = true
			}
		case n < 98:
			for b := range held {
				require.NoError(t, tr.give(t.Context(), tr.root, b))
				mark(b, false)
				delete(held, b)
				break
			}
		default:
			version++
			saved, garbage := tr.snapshot(version, int64(step))
			for k := range pages {
				if slices.Contains(garbage, k.block) {
					delete(pages, k)
				}
			}
			for _, p := range saved[:len(saved)-1] {
				pages[p.pageKey] = p.body
			}
			tr.clock += 20
			tr.evict(tr.root, tr.clock-random.Int64N(40))
			if random.IntN(2) == 0 { // a new server reads the snapshot
				root, err := decodeRoot(saved[len(saved)-1].body)
				require.NoError(t, err)
				require.Equal(t, int64(step), root.seq)
				tr = root.tree
				tr.load = pages.load
			}
		}
		if step%5000 == 0 {
			blocks, err := tr.all(t.Context(), tr.root)
			require.NoError(t, err)
			require.NoError(t, tr.counted(blocks))
			for b := range held {
				blocks = append(blocks, b)
			}
			require.NoError(t, freespace.Tiles(pool, blocks))
			require.LessOrEqual(t, len(pages), 200, "garbage is not listed")
		}
	}
	require.Greater(t, version, int64(300))
}

func TestTreeTakesExactBlocksOnlyOnce(t *testing.T) {
	t.Parallel()
	tr := newTree(netip.MustParsePrefix("2001:db8::/32"), shelf{}.load)
	for i := range uint64(2000) {
		addr, _ := freespace.NthBlock(tr.root.block, 64, i*7919)
		taken, err := tr.take(t.Context(), tr.root, addr)
		require.NoError(t, err)
		require.True(t, taken)
		taken, err = tr.take(t.Context(), tr.root, netip.PrefixFrom(addr.Addr(), 96))
		require.NoError(t, err)
		require.False(t, taken)
	}
	blocks, err := tr.all(t.Context(), tr.root)
	require.NoError(t, err)
	require.NoError(t, tr.counted(blocks))
	require.Error(t, tr.give(t.Context(), tr.root, netip.MustParsePrefix("2001:db8:ffff::/64")), "it is free")
	require.True(t, tr.root.split)
}

func TestUnreadablePagesAreRefused(t *testing.T) {
	t.Parallel()
	tr := newTree(netip.MustParsePrefix("10.0.0.0/8"), nil)
	saved, _ := tr.snapshot(1, 5)
	body := saved[0].body
	for n := range body {
		_, err := decodeRoot(body[:n])
		require.Error(t, err)
	}
	_, err := decodeRoot(body)
	require.NoError(t, err)
}
