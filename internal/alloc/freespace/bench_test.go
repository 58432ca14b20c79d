package freespace_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
)

// BenchmarkPlan plans a batch of a thousand requests like the use cases do. It computes the reads, creates the set, takes the blocks and lists the
// changes. It does not measure the store. The empty container is one free block. The fragmented container has as many free rows of each length as
// such a batch reads at most.
func BenchmarkPlan(b *testing.B) {
	for _, c := range []struct {
		container string
		bits      int
	}{{"10.0.0.0/8", 24}, {"10.0.0.0/8", 32}, {"2001:db8::/32", 64}, {"::/0", 128}} {
		container := pfx(c.container)
		for _, strategy := range []freespace.Strategy{freespace.BestFit, freespace.FirstFit, freespace.Random, freespace.Sparse} {
			random := rand.New(rand.NewPCG(1, 2))
			wishes := make([]freespace.BlockRequest, 1000)
			for i := range wishes {
				wishes[i] = freespace.BlockRequest{Bits: c.bits, Strategy: strategy, Rand: randomBytes(random)}
			}
			freespace.ShareStart(container, wishes)
			b.Run(fmt.Sprintf("empty/%v/%v-%d", strategy, container, c.bits), func(b *testing.B) {
				benchmarkPlan(b, container, []netip.Prefix{container}, wishes)
			})
			free := fragments(container, c.bits, len(wishes))
			b.Run(fmt.Sprintf("fragmented/%v/%v-%d", strategy, container, c.bits), func(b *testing.B) {
				benchmarkPlan(b, container, free, wishes)
			})
		}
	}
}

func benchmarkPlan(b *testing.B, container netip.Prefix, free []netip.Prefix, wishes []freespace.BlockRequest) {
	b.ReportAllocs()
	for b.Loop() {
		reads := freespace.ReadsFor(container, wishes)
		set, err := freespace.NewFreeSet(container, free)
		require.NoError(b, err)
		for _, w := range wishes {
			_, ok := set.Take(w)
			require.True(b, ok)
		}
		remove, _ := set.Changes()
		require.NotEmpty(b, remove)
		require.NotEmpty(b, reads.Scans)
	}
}

// fragments returns a maximal free list in the upper half of container. It cuts this half into at least count slots if it is large enough. In each
// slot, only the last block with length bits is held. So the slot has one free block of each shorter length, and one of length bits.
func fragments(container netip.Prefix, bits, count int) []netip.Prefix {
	_, high := freespace.Halves(container)
	slotBits := high.Bits()
	for 1<<(slotBits-high.Bits()) < count && slotBits < bits-1 {
		slotBits++
	}
	var free []netip.Prefix
	for n := range min(count, 1<<(slotBits-high.Bits())) {
		slot, _ := freespace.NthBlock(high, slotBits, uint64(n))
		last := netip.PrefixFrom(freespace.Last(slot), bits).Masked()
		free = append(free, freespace.Carve(slot, last)...)
	}
	return free
}

// BenchmarkMerge releases a thousand scattered host blocks. They merge up to the whole container.
func BenchmarkMerge(b *testing.B) {
	for _, c := range []struct {
		container string
		bits      int
	}{{"10.0.0.0/8", 32}, {"2001:db8::/32", 64}, {"::/0", 128}} {
		container := pfx(c.container)
		b.Run(fmt.Sprintf("%v-%d", container, c.bits), func(b *testing.B) {
			random := rand.New(rand.NewPCG(1, 2))
			set, err := freespace.NewFreeSet(container, []netip.Prefix{container})
			require.NoError(b, err)
			var released []netip.Prefix
			for range 1000 {
				block, ok := set.Take(freespace.BlockRequest{Bits: c.bits, Strategy: freespace.Random, Rand: randomBytes(random)})
				require.True(b, ok)
				released = append(released, block)
			}
			b.ReportAllocs()
			for b.Loop() {
				freeBuddies := freespace.MergeCandidates(released, container)
				_, insert := freespace.Merge(released, freeBuddies, container)
				require.Equal(b, []netip.Prefix{container}, insert)
			}
		})
	}
}
