package freespace_test

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
)

// knownMatchesCells caches a container's free list like a server does. It plans one group of requests after another. If the cache covers the group's
// reads, the plan uses the cache. Otherwise it reads rows, and some extra rows for the next groups. Each group must get the same blocks as from a
// check of every cell.
func knownMatchesCells(t *rapid.T, u *universe) {
	c := drawCells(t)
	known := freespace.NewFreeListCache(u.container)
	for range rapid.IntRange(1, 8).Draw(t, "groups") {
		before := u.prefixes(u.freeList(c))
		if rapid.IntRange(0, 3).Draw(t, "release") == 0 {
			release(t, u, c, known)
			continue
		}
		wishes := make([]freespace.BlockRequest, rapid.IntRange(0, 4).Draw(t, "wishes"))
		for i := range wishes {
			wishes[i] = u.drawWish(t)
		}
		reads := freespace.ReadsFor(u.container, wishes)
		rows, ok := known.Read(reads)
		if !ok {
			ahead := reads.WithMoreRows(rapid.IntRange(0, 5).Draw(t, "ahead"))
			rows = read(before, ahead)
			known.Fill(ahead, rows)
			again, ok := known.Read(reads)
			if len(reads.Keys) == 0 && !slices.ContainsFunc(reads.Scans, func(s freespace.Scan) bool { return s.From != u.container.Addr() }) {
				require.True(t, ok, "what was read is known")
			}
			if ok {
				rows = again
			}
		}
		set, err := freespace.NewFreeSet(u.container, rows)
		require.NoError(t, err)
		takeAll(t, u, set, c, wishes)
		known.Apply(set.Changes())
	}
}

// release releases a held block.
func release(t *rapid.T, u *universe, c *cells, known *freespace.FreeListCache) {
	s := drawSpan(t, "release")
	if !c.all(s, false) {
		return
	}
	before := u.prefixes(u.freeList(c))
	c.set(s, true)
	after := u.prefixes(u.freeList(c))
	known.Apply(minus(before, after), minus(after, before))
}

func TestKnownMatchesCells(t *testing.T) {
	t.Parallel()
	inEachUniverse(t, knownMatchesCells)
}

func FuzzKnown(f *testing.F) { fuzzUniverses(f, knownMatchesCells) }

// The cache that the first group fills must serve the next groups.
func TestCachedFreeRowsServeManyGroups(t *testing.T) {
	t.Parallel()
	container := pfx("10.0.0.0/8")
	for _, strategy := range []freespace.Strategy{freespace.FirstFit, freespace.BestFit, freespace.Sparse, freespace.Random} {
		known, free, reads := freespace.NewFreeListCache(container), []netip.Prefix{container}, 0
		for n := range 100 {
			wishes := []freespace.BlockRequest{{Bits: 32, Strategy: strategy, Rand: [16]byte{1, byte(n), 3, byte(n)}}, {Bits: 28, Strategy: strategy, Rand: [16]byte{3, byte(n)}}}
			need := freespace.ReadsFor(container, wishes)
			rows, ok := known.Read(need)
			if !ok {
				ahead := need.WithMoreRows(64)
				rows = read(free, ahead)
				known.Fill(ahead, rows)
				reads++
			}
			set, err := freespace.NewFreeSet(container, rows)
			require.NoError(t, err)
			for _, w := range wishes {
				_, ok := set.Take(w)
				require.True(t, ok)
			}
			remove, insert := set.Changes()
			known.Apply(remove, insert)
			free = slices.Concat(minus(free, remove), insert)
		}
		largest := 1
		if strategy == freespace.Random || strategy == freespace.Sparse { // each request leaves rows of all lengths, more than the cache keeps
			largest = 50
		}
		require.LessOrEqual(t, reads, largest, "%v", strategy)
	}
}

func TestKnownRowsAreLimited(t *testing.T) {
	t.Parallel()
	container := pfx("10.0.0.0/8")
	known := freespace.NewFreeListCache(container)
	scan := freespace.Scan{Order: freespace.LowestFirst, MinBits: 8, MaxBits: 32, From: container.Addr(), Limit: 3000}
	var free []netip.Prefix
	for n := range 3000 {
		b, ok := freespace.NthBlock(container, 32, uint64(n)*2)
		require.True(t, ok)
		free = append(free, b)
	}
	known.Fill(freespace.Reads{Scans: []freespace.Scan{scan}}, free)
	_, ok := known.Read(freespace.Reads{Scans: []freespace.Scan{scan}})
	require.False(t, ok)
	scan.Limit = freespace.MaxCachedBlocks / 2
	rows, ok := known.Read(freespace.Reads{Scans: []freespace.Scan{scan}})
	require.True(t, ok)
	requireSame(t, free[:scan.Limit], rows)
}
