package space

import (
	"fmt"
	"net/netip"
	"slices"
)

// MergeCandidates names every block that has to be free for a release to coalesce: the buddies of the released blocks, of
// their parents, and so on up to the halves of container. Which of them are free now, one point look-up of the store can
// tell; that answer is what Merge wants. The list is sorted, without duplicates, and has at most
// p.Bits()-container.Bits() blocks for each released p.
//
// In a batch, a released block or a block that holds one is left out: it cannot be a free row yet, and Merge finds out by
// itself whether it becomes free.
//
// It panics if a released block is not inside container.
func MergeCandidates(released []netip.Prefix, container netip.Prefix) []netip.Prefix {
	// The lines from the released blocks up to the container. Two lines that meet stay together, so the second one need
	// not be followed any further.
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

// Merge gives released blocks back: it coalesces them with freeBuddies and with each other for as long as two buddies are
// free, up to container, and returns the change of the free list: rows to delete and rows to insert, each sorted.
//
// freeBuddies are those of MergeCandidates(released, container) that are free in the store; more of a maximal free list
// does no harm. Released blocks must be disjoint from each other and from all free blocks.
//
// The change is minimal: delete holds only blocks of freeBuddies, insert only blocks that are not among them, and a block
// that comes into being during the cascade and is merged again appears in neither. If the free list was maximal before,
// it is so afterwards: only a block that has just become free can have a free buddy, and each such block is tried.
//
// It panics if a released block is not inside container.
func Merge(released, freeBuddies []netip.Prefix, container netip.Prefix) (remove, insert []netip.Prefix) {
	free := make(map[netip.Prefix]fromStore, len(released)+len(freeBuddies))
	for _, p := range freeBuddies {
		free[p] = true
	}
	// Blocks that have just become free, by length. Working from the smallest up, each length is complete when its turn
	// comes, because its newcomers are released or come from one length below.
	var fresh [129][]netip.Prefix
	for _, p := range released {
		mustContain(container, p)
		free[p] = false
		fresh[p.Bits()] = append(fresh[p.Bits()], p)
	}
	for bits := Width(container); bits > container.Bits(); bits-- {
		for _, p := range fresh[bits] {
			if _, still := free[p]; !still {
				continue // its buddy, earlier in this loop, took it along
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

// fromStore tells a free block that is a row of the store from one that only just became free.
type fromStore bool

func mustContain(container, p netip.Prefix) {
	if !Contains(container, p) {
		panic(fmt.Sprintf("space: %v is not inside %v", p, container))
	}
}
