package freespace

import (
	"cmp"
	"net/netip"
	"slices"
)

// Order is the order in which a Scan returns its rows. One index on (plen, base) serves all three orders. For each prefix length in the scan, a
// lateral join reads the first Limit rows from From on. The scan then takes the first Limit rows from the result.
//
// A single ORDER BY plen DESC, base over all lengths would be slow, because no direction of the index has this order. PostgreSQL 15 then sorts every
// free row in the pool. Measured with a million rows and LIMIT 1, this cost 7,480 pages and 200 ms. The reads by length cost 76 pages and 0.1 ms.
type Order uint8

// These are the orders for a scan.
const (
	LowestFirst   Order = iota // by base address
	TightestFirst              // by prefix length, the longest first; then by base address
	LargestFirst               // by prefix length, the shortest first; then by base address
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

// Scan requests the first Limit free blocks in Order, with MinBits <= plen <= MaxBits and base >= From. If there are fewer such blocks, it requests
// them all.
type Scan struct {
	Order            Order
	MinBits, MaxBits int
	From             netip.Addr
	Limit            int
}

// Reads lists the free rows that are necessary to plan a batch of block requests in a container.
type Reads struct {
	Keys  []netip.Prefix // blocks to look up; a block is returned if it is a free row. Sorted, without duplicates.
	Scans []Scan         // scans to run; no two have the same Order, MaxBits and From
}

// ReadsFor returns the rows that a FreeSet needs. From these rows, the FreeSet grants the same blocks as from the container's whole free list. The
// caller may take any requests, in any order, each at most once. All reads must see the same snapshot.
//
// Lemma. Let F be the whole free list. Let N be the number of requests that the container could grant if it were all free. Each request has a total
// order on the blocks that are large enough for it (a prefix length of at most Bits), and takes the first free one. The order depends only on the
// request. Let S be the rows that are read. For every request, S includes F's first N blocks in its order, or all blocks if F has fewer. Then a plan
// from S grants the same blocks as a plan from F.
//
// Proof, by induction on the number of granted blocks. Each granted block was carved from one block: an original in F, or a block that remained from
// an earlier carve in this batch. So the first k grants have used up a set D with at most k originals, and have left a set R with the remaining
// blocks. By induction, D and R are the same in both plans. The next request is one among N, so k <= N-1. In the plan from F, it takes the first
// block of (F\D) ∪ R in its order. If F\D has a block for it, let f be the first one. Only blocks in D precede f, so f is among F's first k+1 blocks.
// So f is in S. It is also the first block of S\D, because S ⊆ F. Hence (S\D) ∪ R has the same first block, or neither set has one. ∎ A rollback only
// makes D smaller.
//
// It remains to show that the reads include the first N blocks in each order:
//
//   - FirstFit orders by base. LowestFirst is this order.
//   - BestFit orders by length descending, then by base. TightestFirst is this order. With a Start, the blocks with one length begin at Start and
//     wrap around to the lowest. So there are two scans, one from Start and one from the beginning. For a block at or after Start, consider the first
//     scan. For a block before Start, consider the second. In that scan, the block never has more blocks before it than in the order. So each of the
//     order's first N blocks is among the first N in its scan.
//   - Sparse orders by length ascending, then by base. LargestFirst is this order. The first N blocks with plen <= 20 are among the first N with plen
//     <= 24, so one scan serves all lengths.
//   - Random takes the block that covers the drawn position. Then it orders by base, from Start on and then from the lowest. The keys include the
//     covering block. Two scans as for BestFit include the other blocks.
//   - Exact takes the block that covers the exact CIDR, because no other block can contain it. The keys include it.
//
// N rows are necessary. If each of N equal requests uses up a whole block, the last request takes the Nth block.
//
// Let d be the number of distinct combinations of strategy, length and start (see ShareStart). Then there are at most 2d scans, with N rows each.
// Each Random or Exact request also needs one key for each length from the container's length to its own.
func ReadsFor(container netip.Prefix, wishes []BlockRequest) Reads {
	reads, _ := readsFor(container, wishes, len(wishes))
	return reads
}

// FewRows is the largest number of rows per length that FewFor reads in a scan for Random requests.
const FewRows = 64

// FewFor returns the same reads as ReadsFor, but with at most FewRows rows in a scan that only Random requests need. bounded reports whether it
// reduced a scan.
//
// A Random request nearly always finds its drawn position free, and a key reads that position. Any other free block serves the request too. So a plan
// from these rows never grants a wrong block. If the plan finds no block for a Random request, the container may still have one. The caller must then
// use ReadsFor.
func FewFor(container netip.Prefix, wishes []BlockRequest) (few Reads, bounded bool) {
	return readsFor(container, wishes, FewRows)
}

func readsFor(container netip.Prefix, wishes []BlockRequest, few int) (reads Reads, bounded bool) {
	if !Canonical(container) {
		return Reads{}, false
	}
	keys := make(map[netip.Prefix]bool)
	scans := make(map[Scan]bool) // true for a scan that needs all rows as in ReadsFor
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

// addCovers adds every block in container that contains exact, the smallest first. These are the free rows from which exact could be carved. If keys
// already has a block, it already has all larger blocks too, so addCovers stops there.
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

// WithMoreRows returns the same reads with more rows in each scan, for a caller that caches the rows.
func (r Reads) WithMoreRows(rows int) Reads {
	r.Scans = slices.Clone(r.Scans)
	for i := range r.Scans {
		r.Scans[i].Limit += rows
	}
	return r
}

// WithWholeList returns the keys, and one scan that reads the whole free list up to a number of rows. The keys alone would leave nothing to cache.
func (r Reads) WithWholeList(container netip.Prefix, rows int) Reads {
	return Reads{Keys: r.Keys, Scans: []Scan{{Order: LowestFirst, MinBits: container.Bits(), MaxBits: Width(container), From: container.Addr(), Limit: rows}}}
}

// Requested returns the rows that the keys request, if there are no scans. With scans, it returns all rows.
func (r Reads) Requested(rows []netip.Prefix) []netip.Prefix {
	if len(r.Scans) > 0 {
		return rows
	}
	return slices.DeleteFunc(rows, func(p netip.Prefix) bool {
		_, named := slices.BinarySearchFunc(r.Keys, p, Compare)
		return !named
	})
}
