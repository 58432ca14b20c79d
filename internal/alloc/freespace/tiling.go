package freespace

import (
	"fmt"
	"net/netip"
	"slices"
)

// NotBlockError reports a listed prefix that is not a canonical block.
type NotBlockError struct{ Prefix netip.Prefix }

func (e *NotBlockError) Error() string { return fmt.Sprintf("%v is not an aligned block", e.Prefix) }

// OutsideError reports a block that is not inside its container.
type OutsideError struct{ Container, Block netip.Prefix }

func (e *OutsideError) Error() string {
	return fmt.Sprintf("%v is not inside %v", e.Block, e.Container)
}

// OverlapError reports two blocks that share addresses, in the order of Compare. If a block is listed twice, First and Second are equal.
type OverlapError struct{ First, Second netip.Prefix }

func (e *OverlapError) Error() string { return fmt.Sprintf("%v overlaps %v", e.First, e.Second) }

// GapError reports that no block covers the addresses First..Last in the container.
type GapError struct{ First, Last netip.Addr }

func (e *GapError) Error() string { return fmt.Sprintf("nothing covers %v-%v", e.First, e.Last) }

// Tiles checks that blocks cover every address in container exactly once. The blocks may be in any order. Tiles returns the first fault by address:
// *GapError or *OverlapError. A *NotBlockError or *OutsideError comes before all other faults.
func Tiles(container netip.Prefix, blocks []netip.Prefix) error {
	sorted, err := disjointInside(container, blocks)
	width, last := Width(container), lastOf(container)
	next, full := numberOf(First(container)), false
	for _, p := range sorted {
		if base := numberOf(p.Addr()); base != next {
			return &GapError{next.addr(width), base.sub(uint128{lo: 1}).addr(width)}
		}
		end := lastOf(p)
		next, full = end.add(uint128{lo: 1}), end == last
	}
	if err != nil {
		return err
	}
	if !full {
		return &GapError{next.addr(width), last.addr(width)}
	}
	return nil
}

// disjointInside sorts blocks. If some blocks overlap, the error names the first two, and the result has the blocks before the second one. If a block
// is not canonical or is outside the container, the result is empty.
func disjointInside(container netip.Prefix, blocks []netip.Prefix) ([]netip.Prefix, error) {
	if !Canonical(container) {
		return nil, &NotBlockError{container}
	}
	sorted := slices.SortedFunc(slices.Values(blocks), Compare)
	for _, p := range sorted {
		if !Canonical(p) {
			return nil, &NotBlockError{p}
		}
		if !Contains(container, p) {
			return nil, &OutsideError{container, p}
		}
	}
	// In this order, the first block that overlaps an earlier block also overlaps the block directly before it.
	for i := 1; i < len(sorted); i++ {
		if Contains(sorted[i-1], sorted[i]) {
			return sorted[:i], &OverlapError{sorted[i-1], sorted[i]}
		}
	}
	return sorted, nil
}
