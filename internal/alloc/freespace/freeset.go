package freespace

import (
	"net/netip"
	"slices"
)

// FreeSet plans a batch of block requests. It contains a container's free blocks that were read from the store. ReadsFor lists the necessary rows.
// FreeSet grants one request after another from the blocks that are still free. At the end, it returns the changes to the store's rows. Only one
// goroutine may use it.
type FreeSet struct {
	container netip.Prefix
	width     int
	lengths   [129]sortedBlocks // the free blocks by length
	deleted   []netip.Prefix    // rows in the store from which blocks were carved
}

// NewFreeSet creates a set from container's free blocks, in any order. Several reads may return the same block. NewFreeSet refuses blocks that are
// not canonical (*NotBlockError), are outside the container (*OutsideError), or overlap (*OverlapError). Such blocks could grant an address twice.
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

// Take grants the request w: it removes the block from the set and returns it. If no free block is large enough, Take changes nothing and returns
// false. It does the same if an exact block is not entirely free.
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

// Changes returns the batch's changes to the store's free rows. remove has the rows to delete, and all were read. insert has the remaining blocks to
// insert. Both are sorted. A remaining block that the batch used up later is in neither list. The inserted blocks and the granted blocks together
// cover exactly the deleted blocks.
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

// freeBlock is a free block in a sortedBlocks list. All blocks in the list have the same length.
type freeBlock struct {
	base   uint128
	stored bool // a row in the store; false for a block that remained after a carve in this batch
}

// sortedBlocks contains the free blocks with one length in ascending order. A slice is fast enough. A batch with a thousand requests leaves at most a
// few thousand blocks with one length. Shifting them costs less than following a tree's pointers.
type sortedBlocks []freeBlock

// indexFrom returns the index of the first block at or after base.
func (l sortedBlocks) indexFrom(base uint128) int {
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
	i := l.indexFrom(base)
	return i < len(l) && l[i].base == base
}

func (l *sortedBlocks) insert(b freeBlock) { *l = slices.Insert(*l, l.indexFrom(b.base), b) }

// remove removes the block at base, and reports whether it was a row in the store. The block must exist.
func (l *sortedBlocks) remove(base uint128) (stored bool) {
	i := l.indexFrom(base)
	stored = (*l)[i].stored
	*l = slices.Delete(*l, i, i+1)
	return stored
}
