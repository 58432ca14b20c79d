package freespace

import (
	"fmt"
	"net/netip"
)

// Carve removes target from the free block that contains it and returns the rest: the buddy of target, the buddy of its parent, and so on up to free.
// It returns at most target.Bits()-free.Bits() blocks, smallest first, and none if target is free itself.
//
//	free   |-------------------------------|
//	target |         |xxxx|                |
//	rest   |   2     |    |  1 |     3     |     1 = buddy of target, 2 = buddy of its parent, ...
//
// The remainders and target tile free. No remainder can merge with a free block, because the buddy of each one contains target. So a maximal free
// list stays maximal.
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
