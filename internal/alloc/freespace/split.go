package freespace

import (
	"fmt"
	"net/netip"
)

// Carve removes target from the free block that contains it, and returns the rest. The rest is target's buddy, its parent's buddy, and so on up to
// free. There are at most target.Bits()-free.Bits() blocks, the smallest first. If target is free itself, there is none.
//
//	free   |-------------------------------|
//	target |         |xxxx|                |
//	rest   |   2     |    |  1 |     3     |     1 = buddy of target, 2 = buddy of its parent, ...
//
// The remaining blocks and target together cover exactly free. No remaining block can merge with a free block, because each remaining block's buddy
// contains target. So a maximal free list stays maximal.
//
// Carve panics if target is not inside free.
func Carve(free, target netip.Prefix) []netip.Prefix {
	if !Contains(free, target) {
		panic(fmt.Sprintf("space: cannot carve %v from %v", target, free))
	}
	rest := make([]netip.Prefix, 0, target.Bits()-free.Bits())
	for p := target; p.Bits() > free.Bits(); p = Parent(p) {
		rest = append(rest, Buddy(p))
	}
	return rest
}
