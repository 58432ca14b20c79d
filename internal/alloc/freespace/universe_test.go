package freespace_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
)

// universe is a container of 256 cells. A property test can examine each cell, which is slow but obviously right. A cell is a block eight bits longer
// than the container, and no block is smaller than a cell. universe uses no function of the package under test.
type universe struct {
	container netip.Prefix
	blocks    map[netip.Prefix]span // every block that is at least as large as a cell
}

// span is a block in cells: the index of its first cell and the number of its cells.
type span struct{ start, count int }

// cells records which cells are free.
type cells [256]bool

func newUniverse(container string) *universe {
	u := &universe{container: netip.MustParsePrefix(container), blocks: make(map[netip.Prefix]span)}
	for depth := range 9 {
		count := 256 >> depth
		for start := 0; start < 256; start += count {
			u.blocks[u.block(span{start, count})] = span{start, count}
		}
	}
	return u
}

// universes contains the special cases of both families: the whole family, the first and the last block, lengths that are not whole bytes, and IPv6
// blocks whose addresses look like IPv4-mapped addresses.
var universes = []*universe{
	newUniverse("0.0.0.0/0"), newUniverse("10.0.0.0/13"), newUniverse("0.0.0.0/24"), newUniverse("10.1.2.0/24"), newUniverse("255.255.255.0/24"),
	newUniverse("::/0"), newUniverse("2001:db8::/61"), newUniverse("::/120"), newUniverse("::ffff:10.1.2.0/120"),
	newUniverse("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ff00/120"),
}

// bits returns the prefix length of a block with count cells.
func (u *universe) bits(count int) int {
	bits := u.container.Bits() + 8
	for ; count > 1; count /= 2 {
		bits--
	}
	return bits
}

// block returns the prefix of a span. The number of the first cell is in the eight address bits after the container's bits.
func (u *universe) block(s span) netip.Prefix {
	raw := u.container.Addr().AsSlice()
	for i := range 8 {
		if s.start>>(7-i)&1 == 1 {
			at := u.container.Bits() + i
			raw[at/8] |= 0x80 >> (at % 8)
		}
	}
	addr, _ := netip.AddrFromSlice(raw)
	return netip.PrefixFrom(addr, u.bits(s.count))
}

// count returns the number of cells in a block with length bits.
func (u *universe) count(bits int) int { return 256 >> (bits - u.container.Bits()) }

func (c *cells) set(s span, free bool) {
	for i := s.start; i < s.start+s.count; i++ {
		c[i] = free
	}
}

func (c *cells) all(s span, free bool) bool {
	return !slices.Contains(c[s.start:s.start+s.count], !free)
}

// freeList returns the maximal free list, ordered by address. It contains every free block whose parent is not free.
func (u *universe) freeList(c *cells) []span {
	var list []span
	for start := 0; start < 256; {
		if !c[start] {
			start++
			continue
		}
		for count := 256; ; count /= 2 {
			if s := (span{start, count}); start%count == 0 && c.all(s, true) {
				list = append(list, s)
				start += count
				break
			}
		}
	}
	return list
}

func (u *universe) prefixes(spans []span) []netip.Prefix {
	var list []netip.Prefix
	for _, s := range spans {
		list = append(list, u.block(s))
	}
	return list
}

// inEachUniverse checks a property a hundred times (-rapid.checks) in each universe.
func inEachUniverse(t *testing.T, property func(*rapid.T, *universe)) {
	t.Helper()
	for _, u := range universes {
		t.Run(u.container.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) { property(t, u) })
		})
	}
}

// fuzzUniverses lets the fuzzer search all universes for a counterexample to a property.
func fuzzUniverses(f *testing.F, property func(*rapid.T, *universe)) {
	f.Helper()
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { property(t, rapid.SampledFrom(universes).Draw(t, "universe")) }))
}

func drawSpan(t *rapid.T, label string) span {
	count := 1 << rapid.IntRange(0, 8).Draw(t, label+" size")
	return span{rapid.IntRange(0, 256/count-1).Draw(t, label+" place") * count, count}
}

// drawCells draws random cells with a structure: it frees and holds random blocks of all sizes, one after another.
func drawCells(t *rapid.T) *cells {
	c := new(cells)
	c.set(span{0, 256}, rapid.Bool().Draw(t, "empty container"))
	for range rapid.IntRange(0, 40).Draw(t, "events") {
		c.set(drawSpan(t, "event"), rapid.Bool().Draw(t, "freed"))
	}
	return c
}

// requireSame requires that two lists are equal. nil equals an empty list.
func requireSame(t require.TestingT, want, got []netip.Prefix, message ...any) {
	require.Equal(t, append([]netip.Prefix{}, want...), append([]netip.Prefix{}, got...), message...)
}

// minus returns the blocks of a that are not in b.
func minus(a, b []netip.Prefix) []netip.Prefix {
	var rest []netip.Prefix
	for _, p := range a {
		if !slices.Contains(b, p) {
			rest = append(rest, p)
		}
	}
	return rest
}

func sorted(blocks []netip.Prefix) []netip.Prefix {
	return slices.SortedFunc(slices.Values(blocks), freespace.Compare)
}

// parse returns the blocks in a list that is separated by spaces.
func parse(t testing.TB, list string) []netip.Prefix {
	t.Helper()
	var blocks []netip.Prefix
	for text := range strings.FieldsSeq(list) {
		p, err := netip.ParsePrefix(text)
		require.NoError(t, err)
		blocks = append(blocks, p)
	}
	return blocks
}

// requireMaximal requires that no two free blocks are the halves of one block.
func requireMaximal(t require.TestingT, free []netip.Prefix) {
	for _, p := range free {
		if p.Bits() > 0 {
			require.NotContains(t, free, freespace.Buddy(p))
		}
	}
}
