package space

import (
	"cmp"
	"net/netip"
	"slices"
)

// Order is the order in which a Scan wants its rows. All three are served by one index on (plen, base): for each length of
// the scan (a lateral join), the first Limit rows from From on; then the first Limit of those. ORDER BY plen DESC, base over
// the lengths at once is not: no direction of that index is this order, so PostgreSQL 15 sorts every free row of the pool
// (measured with a million rows and LIMIT 1: 7,480 pages and 200 ms, against 76 pages and 0.1 ms by length).
type Order uint8

// The orders of a scan.
const (
	LowestFirst   Order = iota // by base
	TightestFirst              // by length, the longest first; then base
	LargestFirst               // by length, the shortest first; then base
)

func (o Order) String() string {
	switch o {
	case LowestFirst:
		return "LowestFirst"
	case TightestFirst:
		return "TightestFirst"
	case LargestFirst:
		return "LargestFirst"
	}
	return "unknown"
}

// Scan asks for the first Limit free blocks, in Order, of those with MinBits <= plen <= MaxBits and base >= From; for all
// of them if there are fewer.
type Scan struct {
	Order            Order
	MinBits, MaxBits int
	From             netip.Addr
	Limit            int
}

// Reads names the rows of a container's free list that decide the outcome of a batch of wishes.
type Reads struct {
	Keys  []netip.Prefix // those of these blocks that are free rows; sorted, without duplicates
	Scans []Scan         // and the result of these; no two with the same Order, MaxBits and From
}

// ReadsFor names the rows that a FreeSet must hold to grant the wishes exactly as it would with the container's whole free
// list, whichever of them are taken, in any order, each at most once. All reads must see the same snapshot.
//
// Lemma. Let F be the whole free list, and N the number of wishes that the container could grant at all. Each wish has a
// total order on the blocks from which it could be carved (Bits no greater than its own), and takes the first free one; the
// order depends on the wish alone. Suppose that the rows read, S, hold for every wish the first N blocks of F in its order,
// or all if there are fewer. Then planning on S grants the same blocks as planning on F.
//
// Proof, by induction on the blocks taken so far. Each came out of one block: an original of F or a remainder of this batch.
// So k wishes granted have used up a set D of at most k originals, the same in both plans, and have left the same remainders
// R. The next wish, one of N, finds k <= N-1. In F it takes the first in its order of (F\D) ∪ R. If F\D has any block for
// it, the first of them, f, is among the first k+1 in F, for only blocks of D come before it; so f is in S, and it is the
// first of S\D too, because S ⊆ F. Hence (S\D) ∪ R has the same first block, or none where the other has none. ∎
// A Rollback only makes D smaller.
//
// What remains to be shown is that the reads hold the first N of each order:
//
//   - FirstFit: by base. LowestFirst is that order.
//   - BestFit: by length descending, then base. TightestFirst is that order. With a Start, those of one length start at it
//     and go on from the lowest: two scans, one from Start and one from the beginning. A block at or after Start is preceded
//     by at least those that precede it in the first scan, a block before Start by at least those that precede it in the
//     second; so the first N of the order are among the first N of the one or the other.
//   - Sparse: by length ascending, then base. LargestFirst is that order, and the first N with plen <= 20 are among the first
//     N with plen <= 24: one scan serves all lengths.
//   - Random: the block that covers the place drawn, then by base from Start on, then from the lowest. The first is one of
//     the keys that cover it, for the rest two scans as for BestFit.
//   - Exact: the block that covers it, the only one possible: keys.
//
// N is needed: of N wishes alike, the last takes the Nth block if each uses up a whole one.
//
// Bounds, for N wishes with d distinct combinations of strategy, length and start (see ShareStart): at most 2d scans of N
// rows each, and for each Random or Exact wish one key per length from the container's to its own.
func ReadsFor(container netip.Prefix, wishes []Wish) Reads {
	reads, _ := readsFor(container, wishes, len(wishes))
	return reads
}

// Few is how many rows of each length FewFor has a scan read for Random wishes.
const Few = 64

// FewFor is ReadsFor, but that the scans which Random wishes alone need are of Few rows, however many wishes there are; bounded
// says that any was. For a Random wish any free block will do, and nearly always the place that it drew is free, which is a key. So with
// these rows no wish is granted what it must not have; but when none is left for a Random wish, that is no proof that there is none, and
// ReadsFor has to decide.
func FewFor(container netip.Prefix, wishes []Wish) (few Reads, bounded bool) {
	return readsFor(container, wishes, Few)
}

func readsFor(container netip.Prefix, wishes []Wish, few int) (reads Reads, bounded bool) {
	if !Canonical(container) {
		return Reads{}, false
	}
	keys := make(map[netip.Prefix]bool)
	scans := make(map[Scan]bool) // whether all the rows are needed that ReadsFor speaks of
	sparse, count := -1, 0
	for _, w := range wishes {
		if !w.satisfiable(container) {
			continue
		}
		count++
		switch {
		case w.Exact.IsValid():
			addCovers(keys, container, w.Exact)
			continue
		case w.Strategy == Sparse:
			sparse = max(sparse, w.Bits)
			continue
		case w.Strategy == Random:
			addCovers(keys, container, w.place(container))
		}
		scan := Scan{Order: LowestFirst, MinBits: container.Bits(), MaxBits: w.Bits, From: container.Addr()}
		if w.Strategy == BestFit {
			scan.Order = TightestFirst
		}
		scans[scan] = scans[scan] || w.Strategy != Random
		scan.From = w.start(container)
		scans[scan] = scans[scan] || w.Strategy != Random
	}
	if sparse >= 0 {
		scans[Scan{Order: LargestFirst, MinBits: container.Bits(), MaxBits: sparse, From: container.Addr()}] = true
	}
	reads = Reads{Keys: sortedKeys(keys), Scans: sortedScans(scans, count, few)}
	return reads, slices.ContainsFunc(reads.Scans, func(s Scan) bool { return s.Limit < count })
}

// addCovers adds every block of container that covers exact, the free rows from which that could be carved, from the smallest
// up. Where it meets a block that is there already, all larger ones are there too.
func addCovers(keys map[netip.Prefix]bool, container, exact netip.Prefix) {
	for bits := exact.Bits(); bits >= container.Bits(); bits-- {
		p := Ancestor(exact, bits)
		if keys[p] {
			return
		}
		keys[p] = true
	}
}

func sortedKeys(set map[netip.Prefix]bool) []netip.Prefix {
	keys := make([]netip.Prefix, 0, len(set))
	for p := range set {
		keys = append(keys, p)
	}
	slices.SortFunc(keys, Compare)
	return keys
}

func sortedScans(set map[Scan]bool, all, few int) []Scan {
	scans := make([]Scan, 0, len(set))
	for scan, whole := range set {
		if scan.Limit = all; !whole {
			scan.Limit = min(all, few)
		}
		scans = append(scans, scan)
	}
	slices.SortFunc(scans, func(a, b Scan) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.MaxBits, b.MaxBits), a.From.Compare(b.From))
	})
	return scans
}

// Ahead is the same reads with more rows of each scan than are needed: for those who remember them.
func (r Reads) Ahead(rows int) Reads {
	r.Scans = slices.Clone(r.Scans)
	for i := range r.Scans {
		r.Scans[i].Limit += rows
	}
	return r
}

// Whole is the keys, and so many rows of the free list that it has no more: of keys alone nothing could be remembered.
func (r Reads) Whole(container netip.Prefix, rows int) Reads {
	return Reads{Keys: r.Keys, Scans: []Scan{{Order: LowestFirst, MinBits: container.Bits(), MaxBits: Width(container), From: container.Addr(), Limit: rows}}}
}

// Asked leaves those of some rows that these reads ask for, if all that they ask for are keys.
func (r Reads) Asked(rows []netip.Prefix) []netip.Prefix {
	if len(r.Scans) > 0 {
		return rows
	}
	return slices.DeleteFunc(rows, func(p netip.Prefix) bool {
		_, named := slices.BinarySearchFunc(r.Keys, p, Compare)
		return !named
	})
}
