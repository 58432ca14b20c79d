package freespace

import (
	"cmp"
	"net/netip"
	"slices"
)

// Order is the order in which a Scan returns its rows. One index on (plen, base) serves all three: a lateral join reads, for each length of the scan,
// the first Limit rows from From on, and the scan takes the first Limit rows of these. A single ORDER BY plen DESC, base over all lengths would be
// slow: no direction of that index matches it, so PostgreSQL 15 sorts every free row of the pool (measured with a million rows and LIMIT 1: 7,480
// pages and 200 ms, against 76 pages and 0.1 ms by length).
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

// Scan asks for the first Limit free blocks, in Order, with MinBits <= plen <= MaxBits and base >= From; for all such blocks if fewer exist.
type Scan struct {
	Order            Order
	MinBits, MaxBits int
	From             netip.Addr
	Limit            int
}

// Reads lists the rows of a container's free list that decide the outcome for a batch of wishes.
type Reads struct {
	Keys  []netip.Prefix // blocks to look up: each is returned if it is a free row; sorted, without duplicates
	Scans []Scan         // scans to run; no two with the same Order, MaxBits and From
}

// ReadsFor returns the rows that a FreeSet must hold to grant the wishes exactly as it would from the container's whole free list. The caller may
// take any of the wishes, in any order, each at most once. All reads must see the same snapshot.
//
// Lemma. Let F be the whole free list, and N the number of wishes that the container could grant at all. Each wish has a total order on the blocks
// from which it could be carved (Bits no greater than its own), and takes the first free one; the order depends on the wish alone. Suppose that the
// rows read, S, include for every wish the first N blocks of F in its order, or all if F has fewer. Then a plan from S grants the same blocks as a
// plan from F.
//
// Proof, by induction on the blocks taken so far. Each was carved from one block: an original of F or a remainder of this batch. So the first k
// grants have used up a set D of at most k originals, the same in both plans, and have left the same remainders R. The next wish is one of N, so k <=
// N-1. In F it takes the first block in its order of (F\D) ∪ R. If F\D has a block for it, the first such block f is among the first k+1 in F,
// because only blocks of D precede it. So f is in S, and it is also the first of S\D, because S ⊆ F. Hence (S\D) ∪ R has the same first block, or
// neither set has one. ∎ A Rollback only makes D smaller.
//
// It remains to show that the reads include the first N blocks of each order:
//
//   - FirstFit: by base. LowestFirst is that order.
//   - BestFit: by length descending, then base. TightestFirst is that order. With a Start, the blocks of one length begin at
//     Start and wrap around to the lowest: two scans, one from Start and one from the beginning. A block at or after Start has
//     at least as many predecessors in the order as in the first scan, a block before Start at least as many as in the second.
//     So the first N of the order are among the first N of one scan or the other.
//   - Sparse: by length ascending, then base. LargestFirst is that order, and the first N with plen <= 20 are among the first
//     N with plen <= 24: one scan serves all lengths.
//   - Random: the block that covers the position drawn, then by base from Start on, then from the lowest. The keys include the
//     covering block; two scans as for BestFit include the rest.
//   - Exact: the block that covers it, the only possible one: keys.
//
// N rows are necessary: of N equal wishes, the last one takes the Nth block if each uses up a whole block.
//
// Bounds, for N wishes with d distinct combinations of strategy, length and start (see ShareStart): at most 2d scans with N rows each, and for each
// Random or Exact wish one key per length from the container's to its own.
func ReadsFor(container netip.Prefix, wishes []BlockRequest) Reads {
	reads, _ := readsFor(container, wishes, len(wishes))
	return reads
}

// Few is the number of rows for each length that FewFor reads in a scan for Random wishes.
const Few = 64

// FewFor returns the reads from ReadsFor, but it limits scans that only Random wishes need to Few rows, however many wishes there are. bounded
// reports whether it limited any. Any free block serves a Random wish, and nearly always the position that it drew is free, which a key finds. So a
// plan from these rows never grants a wrong block. But if it finds none for a Random wish, the container may still have one, and ReadsFor must
// decide.
func FewFor(container netip.Prefix, wishes []BlockRequest) (few Reads, bounded bool) {
	return readsFor(container, wishes, Few)
}

func readsFor(container netip.Prefix, wishes []BlockRequest, few int) (reads Reads, bounded bool) {
	if !Canonical(container) {
		return Reads{}, false
	}
	keys := make(map[netip.Prefix]bool)
	scans := make(map[Scan]bool) // true for a scan that needs all the rows of ReadsFor
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

// addCovers adds every block in container that covers exact, the smallest first: the free rows from which exact could be carved. It stops at a block
// that keys already has, because keys then has all larger ones too.
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

// Ahead returns the same reads with so many extra rows in each scan, for a caller that caches them.
func (r Reads) Ahead(rows int) Reads {
	r.Scans = slices.Clone(r.Scans)
	for i := range r.Scans {
		r.Scans[i].Limit += rows
	}
	return r
}

// Whole returns the keys and one scan with so many rows that it reads the whole free list. Keys alone would leave nothing to cache.
func (r Reads) Whole(container netip.Prefix, rows int) Reads {
	return Reads{Keys: r.Keys, Scans: []Scan{{Order: LowestFirst, MinBits: container.Bits(), MaxBits: Width(container), From: container.Addr(), Limit: rows}}}
}

// Asked returns the rows that these reads ask for, if they have keys alone; with scans it returns all rows.
func (r Reads) Asked(rows []netip.Prefix) []netip.Prefix {
	if len(r.Scans) > 0 {
		return rows
	}
	return slices.DeleteFunc(rows, func(p netip.Prefix) bool {
		_, named := slices.BinarySearchFunc(r.Keys, p, Compare)
		return !named
	})
}
