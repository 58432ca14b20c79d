package freespace

import (
	"fmt"
	"net/netip"
)

// Carve removes target from the free block that contains it, and returns the remaining blocks. They are target's buddy, its parent's buddy, and so on
// up to block. There are at most target.Bits()-block.Bits() of them, the smallest first. If target is the whole block, no block remains.
//
//	block  |-------------------------------|
//	target |         |xxxx|                |
//	rest   |   2     |    |  1 |     3     |     1 = buddy of target, 2 = buddy of its parent, ...
//
// The remaining blocks and target together cover exactly block. No remaining block can merge with a free block, because each remaining block's buddy
// contains target. So a maximal free list stays maximal.
//
// Carve panics if target is not inside block.
func Carve(block, target netip.Prefix) []netip.Prefix {
	if !Contains(block, target) {
		panic(fmt.Sprintf("space: cannot carve %v from %v", target, block))
	}
	rest := make([]netip.Prefix, 0, target.Bits()-block.Bits())
	for p := target; p.Bits() > block.Bits(); p = Parent(p) {
		rest = append(rest, Buddy(p))
	}
	return rest
}
