package freespace

import (
	"fmt"
	"net/netip"
	"slices"
)

// MergeCandidates returns every block that must be free for a release to coalesce: the buddies of the released blocks, of their parents, and so on up
// to the halves of container. The caller finds out by one point look-up which of them are free, and passes those to Merge. The list is sorted,
// without duplicates, and has at most p.Bits()-container.Bits() blocks for each released p.
//
// In a batch, the list omits a released block and a block that contains one: neither can be a free row yet, and Merge itself computes whether it
// becomes free.
//
// MergeCandidates panics if a released block is not inside container.
func MergeCandidates(released []netip.Prefix, container netip.Prefix) []netip.Prefix {
	// lines has the released blocks' ancestors up to the container. Two paths that meet share the rest, so the second one ends there.
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

// Merge releases blocks: it coalesces them with freeBuddies and with each other as long as two buddies are free, up to container. It returns the free
// list's change: rows to delete and rows to insert, each sorted.
//
// freeBuddies are the blocks from MergeCandidates(released, container) that are free in the store. They may include other blocks in a maximal free
// list. Released blocks must be disjoint from each other and from all free blocks.
//
// The change is minimal: remove has only blocks in freeBuddies, and insert has only blocks that are not among them. A block that the cascade makes
// and merges again appears in neither. Merge keeps a maximal free list maximal: only a newly freed block can have a free buddy, and Merge tries each
// such block.
//
// Merge panics if a released block is not inside container.
func Merge(released, freeBuddies []netip.Prefix, container netip.Prefix) (remove, insert []netip.Prefix) {
	free := make(map[netip.Prefix]fromStore, len(released)+len(freeBuddies))
	for _, p := range freeBuddies {
		free[p] = true
	}
	// fresh has the newly freed blocks by length. The loop runs from the smallest blocks up, so each length is complete when the loop reaches it: its
	// blocks were released or come from the next longer length.
	var fresh [129][]netip.Prefix
	for _, p := range released {
		mustContain(container, p)
		free[p] = false
		fresh[p.Bits()] = append(fresh[p.Bits()], p)
	}
	for bits := Width(container); bits > container.Bits(); bits-- {
		for _, p := range fresh[bits] {
			if _, still := free[p]; !still {
				continue // its buddy has merged with it, earlier in this loop
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

// fromStore is true for a free block that is a row in the store, false for a newly freed one.
type fromStore bool

func mustContain(container, p netip.Prefix) {
	if !Contains(container, p) {
		panic(fmt.Sprintf("space: %v is not inside %v", p, container))
	}
}
