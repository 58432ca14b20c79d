package freespace

import (
	"net/netip"
	"slices"
)

// FreeSet plans a batch: it holds the free blocks of a container as read from the store (ReadsFor lists the necessary rows). It grants wishes one
// after another, each from the blocks still free, and finally returns the changes to the store's rows. It is for one goroutine.
type FreeSet struct {
	container netip.Prefix
	width     int
	lengths   [129]sortedBlocks // the free blocks by length
	deleted   []netip.Prefix    // rows in the store from which blocks were carved
}

// NewFreeSet makes a set from the free blocks of container, in any order; several reads may contribute the same block. It refuses blocks that are not
// canonical, lie outside or overlap (*NotBlockError, *OutsideError, *OverlapError), because they could cause an address to be granted twice.
func NewFreeSet(container netip.Prefix, free []netip.Prefix) (*FreeSet, error) {
	distinct := slices.Compact(slices.SortedFunc(slices.Values(free), Compare))
	sorted, err := disjointInside(container, distinct)
	if err != nil {
		return nil, err
	}
	s := &FreeSet{container: container, width: Width(container)}
	for _, p := range sorted {
		l := &s.lengths[p.Bits()]
		*l = append(*l, freeBlock{base: numberOf(p.Addr()), stored: true})
	}
	return s, nil
}

// Take grants w: it removes the block from the set and returns it. It returns false and changes nothing if no free block is large enough, or if an
// exact block is not entirely free.
func (s *FreeSet) Take(w BlockRequest) (netip.Prefix, bool) {
	if !w.satisfiable(s.container) {
		return netip.Prefix{}, false
	}
	free, target, ok := s.choose(w)
	if !ok {
		return netip.Prefix{}, false
	}
	if stored := s.lengths[free.Bits()].remove(numberOf(free.Addr())); stored {
		s.deleted = append(s.deleted, free)
	}
	for _, p := range Carve(free, target) {
		s.lengths[p.Bits()].insert(freeBlock{base: numberOf(p.Addr())})
	}
	return target, true
}

// Changes returns how the batch changes the store's free rows: the rows to delete, all of which were read, and the remainders to insert; each sorted.
// A remainder that the batch used up later appears in neither. The inserted and the granted blocks together tile the deleted blocks.
func (s *FreeSet) Changes() (remove, insert []netip.Prefix) {
	for bits, blocks := range &s.lengths {
		for _, b := range blocks {
			if !b.stored {
				insert = append(insert, block(b.base, bits, s.width))
			}
		}
	}
	remove = slices.SortedFunc(slices.Values(s.deleted), Compare)
	slices.SortFunc(insert, Compare)
	return remove, insert
}

// freeBlock is a free block in a sortedBlocks, which determines its length.
type freeBlock struct {
	base   uint128
	stored bool // a row in the store, not a remainder of this batch
}

// sortedBlocks holds free blocks with one length, ascending. A slice is enough: a batch with a thousand wishes leaves at most a few thousand blocks
// with one length, and shifting them costs less than following a tree's pointers.
type sortedBlocks []freeBlock

// from returns the position of the first block with at least this base.
func (l sortedBlocks) from(base uint128) int {
	low, high := 0, len(l)
	for low < high {
		middle := int(uint(low+high) >> 1)
		if l[middle].base.less(base) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

func (l sortedBlocks) has(base uint128) bool {
	i := l.from(base)
	return i < len(l) && l[i].base == base
}

func (l *sortedBlocks) insert(b freeBlock) { *l = slices.Insert(*l, l.from(b.base), b) }

// remove removes the block at base, which must be present, and reports whether it was a row in the store.
func (l *sortedBlocks) remove(base uint128) (stored bool) {
	i := l.from(base)
	stored = (*l)[i].stored
	*l = slices.Delete(*l, i, i+1)
	return stored
}
