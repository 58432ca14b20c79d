package model

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// If the halves of a state of the full search are swapped, the result must be a state of the reduced search, and vice versa. The reduced search finds
// fewer states.
func TestReducedSearchFindsTheSameStates(t *testing.T) {
	t.Parallel()
	for name, bounds := range map[string]Bounds{
		"AnswersLost": {Size: 4, Regions: 2, Asks: pair, Wishes: []int{1, 2}, MaxAsks: 1, MaxLost: 1},
		"Restored":    {Size: 2, Regions: 2, Asks: pair, Wishes: []int{1}, MaxAsks: 1, MaxLost: 1, Restored: both},
		"Remembered":  {Size: 4, Regions: 2, Asks: []int{0, 0}, Wishes: []int{1, 2}, MaxAsks: 1, Remembers: true},
		"Eight":       {Size: 8, Regions: 2, Asks: pair, Wishes: []int{4}, MaxAsks: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reduced := newSearch(bounds, Sound)
			plain := bounds
			plain.Plain = true
			whole := newSearch(plain, Sound)
			swapped := newSearch(bounds, Sound) // this search only stores the states that it receives
			swapped.table = make([]uint32, 1<<16)
			whole.visit = func(s *state) {
				like := *s
				swapped.canonical(&like)
				swapped.add(&like, 0)
			}
			all, few := whole.run(), reduced.run()
			require.Empty(t, all.Broken)
			require.Empty(t, few.Broken)
			first := whole.start()
			swapped.add(&first, 0)
			assert.Equal(t, len(swapped.parent), few.States)
			for i := range swapped.parent {
				stored := swapped.stored(uint32(i))
				require.NotZero(t, reduced.table[reduced.find(stored)], "a state of the whole search")
			}
			assert.Less(t, few.States, all.States)
			t.Logf("%d states are %d", all.States, few.States)
		})
	}
}

// If halves are swapped in the arguments of the product's functions, the same halves must be swapped in the results, and nothing else may change. The
// reduction depends on this. The test covers all sets of free rows in a pool with eight addresses.
func TestProductIsSymmetricInSwappedHalves(t *testing.T) {
	t.Parallel()
	sum := newArithmetic(8)
	checked := 0
	for set := range 1 << 8 {
		free := rows(sum, uint16(set))
		for _, block := range sum.all[:7] { // the halves of each block that can be divided
			var to [maxNodes]node
			for _, n := range sum.all {
				to[n] = swapped(n, block)
			}
			all := func(m mask) (out mask) {
				for n := range m.each {
					out = out.with(to[n])
				}
				return out
			}
			for size := 1; size <= 8; size *= 2 {
				var want []plan
				for _, p := range sum.take(free, size) {
					want = append(want, plan{to[p.block], all(p.free)})
				}
				assert.ElementsMatch(t, want, sum.take(all(free), size))
				checked++
			}
			for _, b := range sum.all {
				assert.Equal(t, all(sum.unlend(free, b)), sum.unlend(all(free), to[b]))
				if sum.addrs[b]&sum.covered(free) == 0 {
					assert.Equal(t, all(sum.merge(free, b)), sum.merge(all(free), to[b]))
				}
				if sum.addrs[b]&^sum.covered(free) == 0 {
					assert.Equal(t, all(sum.exact(free, b)), sum.exact(all(free), to[b]))
				}
				checked++
			}
		}
	}
	require.Positive(t, checked)
}

// swapped returns the position of block n after the halves of another block are swapped.
func swapped(n, block node) node {
	for _, half := range []node{2 * block, 2*block + 1} {
		if inside(n, half) {
			width := node(1)
			for up := n; up != half; up /= 2 {
				width *= 2
			}
			return n ^ width
		}
	}
	return n
}

// rows returns the largest aligned blocks that together cover a set of addresses.
func rows(sum *arithmetic, set uint16) (out mask) {
	for _, n := range sum.all { // the larger ones first
		if sum.addrs[n]&^set == 0 {
			out, set = out.with(n), set&^sum.addrs[n]
		}
	}
	return out
}
