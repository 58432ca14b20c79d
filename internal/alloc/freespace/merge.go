package freespace

import (
	"fmt"
	"net/netip"
	"slices"
)

// MergeCandidates returns every block that could merge with a released block or with its enclosing blocks. These blocks are the buddies of the
// released blocks, of their parents, and so on up to container's halves. One point look-up in the store shows which candidates are free. The caller
// passes the free ones to Merge. The list is sorted and has no duplicates. It has at most p.Bits()-container.Bits() blocks for each released p.
//
// If several blocks are released, the list omits the released blocks and the blocks that contain one. They cannot be free rows yet. Merge itself
// computes whether they become free.
//
// MergeCandidates panics if a released block is not inside container.
func MergeCandidates(released []netip.Prefix, container netip.Prefix) []netip.Prefix {
	// lines contains the released blocks and their ancestors up to the container. If an ancestor is already in lines, all higher ancestors are too, so
	// the loop ends.
	lines := make(map[netip.Prefix]bool, 2*len(released))
	for _, p := range released {
		mustContain(container, p)
		for !lines[p] {
			lines[p] = true
			if p.Bits() == container.Bits() {
				break
			}
			p = Parent(p)
		}
	}
	candidates := make([]netip.Prefix, 0, len(lines))
	for p := range lines {
		if p.Bits() == container.Bits() {
			continue
		}
		if buddy := Buddy(p); !lines[buddy] {
			candidates = append(candidates, buddy)
		}
	}
	slices.SortFunc(candidates, Compare)
	return candidates
}

// Merge releases blocks. As long as two buddies are free, it merges them into their parent, up to container. It returns the change to the free list:
// the rows to delete and the rows to insert. Both are sorted.
//
// freeBuddies must contain the blocks from MergeCandidates(released, container) that are free in the store. It may also contain other blocks from a
// maximal free list. The released blocks must not overlap each other or any free block.
//
// The change is minimal. remove has only blocks from freeBuddies, and insert has only new blocks. A block that one merge creates and the next merge
// uses up is in neither list. Merge keeps the free list maximal. Only a newly freed block can have a free buddy, and Merge checks each newly freed
// block.
//
// Merge panics if a released block is not inside container.
func Merge(released, freeBuddies []netip.Prefix, container netip.Prefix) (remove, insert []netip.Prefix) {
	free := make(map[netip.Prefix]fromStore, len(released)+len(freeBuddies))
	for _, p := range freeBuddies {
		free[p] = true
	}
	// fresh contains the newly freed blocks by length. The loop starts with the smallest blocks. A block in fresh was released, or is the parent of two
	// smaller blocks. So fresh is complete for a length when the loop reaches this length.
	var fresh [129][]netip.Prefix
	for _, p := range released {
		mustContain(container, p)
		free[p] = false
		fresh[p.Bits()] = append(fresh[p.Bits()], p)
	}
	for bits := Width(container); bits > container.Bits(); bits-- {
		for _, p := range fresh[bits] {
			if _, still := free[p]; !still {
				continue // its buddy came earlier in this loop and has merged with it
			}
			buddy := Buddy(p)
			stored, ok := free[buddy]
			if !ok {
				continue
			}
			if stored {
				remove = append(remove, buddy)
			}
			delete(free, p)
			delete(free, buddy)
			parent := Parent(p)
			free[parent] = false
			fresh[bits-1] = append(fresh[bits-1], parent)
		}
	}
	for p, stored := range free {
		if !stored {
			insert = append(insert, p)
		}
	}
	slices.SortFunc(remove, Compare)
	slices.SortFunc(insert, Compare)
	return remove, insert
}

// fromStore is true for a free block that is a row in the store, and false for a newly freed block.
type fromStore bool

func mustContain(container, p netip.Prefix) {
	if !Contains(container, p) {
		panic(fmt.Sprintf("space: %v is not inside %v", p, container))
	}
}
