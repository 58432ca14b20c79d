package space

import (
	"net/netip"
	"slices"
)

// FreeSet plans a batch: it holds the free blocks of a container that were read from the store (see ReadsFor for which
// ones are needed), grants wishes one after another, each from what the ones before it left, and finally tells how the
// rows of the store must change. It is for one goroutine.
type FreeSet struct {
	container netip.Prefix
	width     int
	lengths   [129]sortedBlocks // the free blocks by length
	deleted   []netip.Prefix    // rows of the store that something was carved from
}

// NewFreeSet makes a set of free blocks of container, in any order; the same block may come from several reads. It refuses
// blocks that are not canonical, lie outside or overlap (*NotBlockError, *OutsideError, *OverlapError): granting from those
// could hand out an address twice.
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

// Take grants w: it returns the block, which is free no longer. It is false, and nothing has changed, if no free block is
// large enough, or if an exact block is not free as a whole.
func (s *FreeSet) Take(w Wish) (netip.Prefix, bool) {
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

// Changes is what the batch does to the rows of the store, besides the blocks handed out: the free blocks to delete, all of
// them rows that were read, and the remainders to insert; each sorted. A remainder that was used up later in the batch
// appears in neither. The blocks inserted and those handed out together tile the blocks deleted.
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

// freeBlock is a free block of a length known from where it is kept.
type freeBlock struct {
	base   uint128
	stored bool // a row of the store, not a remainder of this batch
}

// sortedBlocks are free blocks of one length, ascending. A slice is enough: a batch of a thousand leaves a few thousand of
// one length at most, and shifting those costs less than following the pointers of a tree.
type sortedBlocks []freeBlock

// from is the position of the first block whose base is at least base.
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

// remove takes out the block at base, which must be there, and tells whether it was a row of the store.
func (l *sortedBlocks) remove(base uint128) (stored bool) {
	i := l.from(base)
	stored = (*l)[i].stored
	*l = slices.Delete(*l, i, i+1)
	return stored
}
