package storetest

import (
	"context"
	"math/rand/v2"
	"net/netip"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

var free = map[string]func(*suite){
	"ListIsByLengthThenAddressInPages": func(s *suite) {
		w := s.world()
		blocks := []string{"10.0.0.128/25", "10.0.0.0/26", "10.0.0.64/27", "10.0.0.96/28", "10.0.0.112/28", "10.0.0.80/32", "10.0.0.82/32"}
		s.write(storage.Changes{Free: []storage.FreeChange{insert(w.c4, blocks[1:]...)}})
		for limit := 1; limit <= len(blocks); limit++ {
			var got []string
			var after netip.Prefix
			for {
				page, err := s.Store.FreeList(s.ctx, w.c4, 32, after, limit)
				require.NoError(s, err)
				for _, p := range page {
					got, after = append(got, p.String()), p
				}
				if len(page) < limit {
					break
				}
			}
			require.Equal(s, blocks, got)
		}
	},
	"ListContainsOnlyLargeEnoughBlocks": func(s *suite) {
		w := s.world()
		s.write(storage.Changes{Free: []storage.FreeChange{insert(w.c4, "10.0.0.0/26", "10.0.0.64/30"), insert(w.c6, "2001:db8::/128")}})
		for maxBits, want := range map[int][]string{24: nil, 25: {"10.0.0.128/25"}, 29: {"10.0.0.128/25", "10.0.0.0/26"}, 30: {"10.0.0.128/25", "10.0.0.0/26", "10.0.0.64/30"}} {
			got, err := s.Store.FreeList(s.ctx, w.c4, maxBits, netip.Prefix{}, 10)
			require.NoError(s, err)
			require.Equal(s, want, texts(got), "/%d", maxBits)
		}
		got, err := s.Store.FreeList(s.ctx, w.c6, 128, netip.Prefix{}, 10)
		require.NoError(s, err)
		require.Equal(s, []string{"2001:db8::/32", "2001:db8::/128"}, texts(got))
	},
	"StocksCountEachContainerBySize": func(s *suite) {
		w := s.world()
		s.write(storage.Changes{Free: []storage.FreeChange{insert(w.c4, "10.0.0.0/32", "10.0.0.2/32"), insert(w.c6, "2001:db8::/128")}})
		nothing := w.c4
		nothing.ID = ipam.NewID()
		got, err := s.Store.Stocks(s.ctx, []storage.Container{w.c4, w.c6, nothing})
		require.NoError(s, err)
		require.Equal(s, map[ipam.ID]ipam.Stock{
			w.c4.ID: {Free: map[int]int64{25: 1, 32: 2}}, w.c6.ID: {Free: map[int]int64{32: 1, 128: 1}}, nothing.ID: {Free: map[int]int64{}},
		}, got)
	},
	"RoomNeedsALargeEnoughFreeBlock": func(s *suite) {
		w := s.world()
		nothing := w.c4
		nothing.ID = ipam.NewID()
		for bits, want := range map[int]map[ipam.ID]bool{
			24: {w.c6.ID: true}, // /24 in IPv4 and /32 in IPv6; the IPv4 /24 has lost its lower half
			25: {w.c4.ID: true, w.c6.ID: true},
			32: {w.c4.ID: true, w.c6.ID: true},
		} {
			got, err := s.Store.RoomIn(s.ctx, []storage.RoomQuery{
				{Container: w.c4, Bits: bits}, {Container: nothing, Bits: bits}, {Container: w.c6, Bits: 32 + (bits - 24)},
			})
			require.NoError(s, err)
			for id, has := range got {
				require.Equal(s, want[id], has, "/%d in %s", bits, id)
			}
			for id, has := range want {
				require.Equal(s, has, got[id], "/%d in %s", bits, id)
			}
		}
		s.write(storage.Changes{Free: []storage.FreeChange{remove(w.c6, "2001:db8::/32"), insert(w.c6, "2001:db8::/40", "2001:db8:100::/128")}})
		for bits, want := range map[int]bool{32: false, 39: false, 40: true, 128: true} {
			got, err := s.Store.RoomIn(s.ctx, []storage.RoomQuery{{Container: w.c6, Bits: bits}})
			require.NoError(s, err)
			require.Equal(s, want, got[w.c6.ID], "/%d", bits)
		}
	},
	"KeysReturnFreeBlocks": func(s *suite) {
		w := s.world()
		reads := freespace.Reads{Keys: []netip.Prefix{cidr("10.0.0.0/24"), cidr("10.0.0.0/25"), cidr("10.0.0.128/25"), cidr("10.0.0.128/26")}}
		require.Equal(s, []string{"10.0.0.128/25"}, texts(s.freeRead(w.c4, reads)))
		require.Empty(s, s.freeRead(w.c6, freespace.Reads{Keys: []netip.Prefix{cidr("2001:db8::/33")}}))
		require.Empty(s, s.freeRead(w.c4, freespace.Reads{}))
	},
	"ScansReturnTheFirstInOrderV4": func(s *suite) { s.scans("10.128.0.0/9", 4) },
	"ScansReturnTheFirstInOrderV6": func(s *suite) { s.scans("2001:db9::/32", 6) },
	"ManyBlocksOfOneSizeAreReadInOrder": func(s *suite) {
		w := s.world()
		pool := s.root(w.space, "many", "10.128.0.0/16")
		c := storage.PoolContainer(pool)
		list := []netip.Prefix{cidr("10.128.128.0/17"), cidr("10.128.64.0/30"), cidr("10.128.64.8/30")}
		for i := range 400 {
			list = append(list, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 128, byte(i / 128), byte(i % 128 * 2)}), 32))
		}
		s.write(storage.Changes{PoolInsert: []ipam.Pool{pool}, Free: []storage.FreeChange{{Container: c, Insert: list}}})
		for _, limit := range []int{20, 150, len(list)} {
			var pages []netip.Prefix
			var after netip.Prefix
			for range len(list)/limit + 1 {
				page, err := s.Store.FreeList(s.ctx, c, 32, after, limit)
				require.NoError(s, err)
				pages = append(pages, page...)
				after = pages[len(pages)-1]
			}
			require.Equal(s, list, pages)
		}
		require.NoError(s, s.Store.InTx(s.ctx, "storetest_read", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
			for _, q := range []freespace.Scan{
				{Order: freespace.LowestFirst, From: netip.MustParseAddr("10.128.0.51")}, {Order: freespace.TightestFirst, From: netip.MustParseAddr("10.128.0.52")},
				{Order: freespace.LargestFirst, From: c.Block.Addr()},
			} { // from the second scan on, the stock is known
				q.MinBits, q.MaxBits, q.Limit = 16, 32, 5
				got, err := tx.FreeRead(ctx, c, freespace.Reads{Scans: []freespace.Scan{q}})
				require.NoError(s, err)
				require.Subset(s, got, firstOf(list, q), "%+v", q)
				require.Less(s, len(got), 20)
			}
			for block, want := range map[netip.Prefix][]netip.Prefix{cidr("10.128.1.2/32"): {cidr("10.128.1.2/32")}, cidr("10.128.1.2/31"): nil, cidr("10.128.1.3/32"): nil} {
				got, err := tx.FreeRead(ctx, c, freespace.Reads{Keys: []netip.Prefix{block}})
				require.NoError(s, err)
				require.Equal(s, want, got, "%s", block)
			}
			return nil
		}))
	},
	"LargerFreeBlockCoversALength": func(s *suite) {
		w := s.world()
		pool := s.root(w.space, "mapped", "10.128.0.0/16")
		large, low, lower, single := cidr("10.128.128.0/17"), cidr("10.128.64.0/30"), cidr("10.128.64.8/30"), cidr("10.128.64.5/32")
		s.write(storage.Changes{PoolInsert: []ipam.Pool{pool}, Free: []storage.FreeChange{
			{Container: storage.PoolContainer(pool), Insert: []netip.Prefix{large, low, lower, single}},
		}})
		for _, q := range []struct {
			within string
			bits   int
			want   []netip.Prefix
		}{
			{"10.128.0.0/16", 16, nil}, {"10.128.0.0/16", 17, []netip.Prefix{large}}, {"10.128.0.0/16", 30, []netip.Prefix{low, lower, large}},
			{"10.128.64.0/24", 32, []netip.Prefix{low, single, lower}}, {"10.128.64.0/24", 31, []netip.Prefix{low, lower}}, {"10.128.64.8/29", 32, []netip.Prefix{lower}},
			{"10.128.64.0/30", 30, []netip.Prefix{low}}, {"10.128.64.2/31", 32, []netip.Prefix{low}}, {"10.128.200.0/26", 30, []netip.Prefix{large}}, {"10.128.0.0/24", 32, nil},
		} {
			got, err := s.Store.FreeCover(s.ctx, pool, cidr(q.within), q.bits)
			require.NoError(s, err)
			require.Equal(s, q.want, got, "%s, /%d", q.within, q.bits)
		}
	},
	"PoolAndFreeBlocksAreReadTogether": func(s *suite) {
		w := s.world()
		reads := freespace.ReadsFor(w.c4.Block, []freespace.BlockRequest{{Bits: 30}, {Exact: cidr("10.0.0.200/32")}})
		require.NoError(s, s.Store.InTx(s.ctx, "storetest_read", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
			got, err := tx.GroupRead(ctx, w.c4, reads, storage.GroupQuery{})
			require.NoError(s, err)
			require.Equal(s, w.v4, got.Pool)
			apart, err := tx.FreeRead(ctx, w.c4, reads)
			require.NoError(s, err)
			require.Equal(s, distinct(apart), distinct(got.Free))
			require.Equal(s, []string{"10.0.0.128/25"}, distinct(got.Free))
			got, err = tx.GroupRead(ctx, w.c6, freespace.Reads{}, storage.GroupQuery{})
			require.Equal(s, storage.GroupFacts{Pool: w.v6}, got, "nothing is asked for, and nothing answered")
			return err
		}))
	},
}

// scans compares random scans of a random free list with their contract. A scan may return more blocks than requested. It must not omit any of the
// first blocks, and it must return only free blocks.
func (s *suite) scans(container string, seed uint64) {
	s.Helper()
	w := s.world()
	r := rand.New(rand.NewPCG(seed, 0))           //nolint:gosec // the same lists in every run
	pool := s.root(w.space, "scanned", container) // beside the pools of the world
	c := storage.PoolContainer(pool)
	list := someFree(r, c.Block, 300)
	s.write(storage.Changes{PoolInsert: []ipam.Pool{pool}, Free: []storage.FreeChange{{Container: c, Insert: list}}})
	orders := []freespace.Order{freespace.LowestFirst, freespace.TightestFirst, freespace.LargestFirst}
	width := c.Block.Addr().BitLen()
	for range 60 {
		lo := c.Block.Bits() + r.IntN(width-c.Block.Bits()+1)
		var reads freespace.Reads
		for range 1 + r.IntN(3) {
			from := list[r.IntN(len(list))].Addr()
			if r.IntN(2) == 0 {
				from = c.Block.Addr()
			}
			reads.Scans = append(reads.Scans, freespace.Scan{
				Order: orders[r.IntN(len(orders))], MinBits: lo, MaxBits: lo + r.IntN(width-lo+1), From: from, Limit: 1 + r.IntN(8),
			})
		}
		got := s.freeRead(c, reads)
		for _, p := range got {
			require.Contains(s, list, p)
		}
		for _, q := range reads.Scans {
			require.Subset(s, got, firstOf(list, q), "%+v", q)
		}
	}
}

func (s *suite) freeRead(c storage.Container, reads freespace.Reads) (blocks []netip.Prefix) {
	s.Helper()
	require.NoError(s, s.Store.InTx(s.ctx, "storetest_read", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
		var err error
		blocks, err = tx.FreeRead(ctx, c, reads)
		return err
	}))
	return blocks
}

func texts(list []netip.Prefix) []string {
	var out []string
	for _, p := range list {
		out = append(out, p.String())
	}
	return out
}

func distinct(list []netip.Prefix) []string {
	out := texts(list)
	slices.Sort(out)
	return slices.Compact(out)
}
