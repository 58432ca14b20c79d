package model

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The steps choose among all blocks of a size, and leave and merge what sets of addresses say. So nothing that a claim could be given in the product
// is left out, and the text's Carved, Merged and Unlent are what the functions compute.
func TestStepsAreThoseOfTheText(t *testing.T) {
	t.Parallel()
	for _, size := range []int{2, 4, 8} {
		sum := newArithmetic(size)
		for set := range 1 << size {
			set := uint16(set)
			free := rows(sum, set)
			for wanted := 1; wanted <= size; wanted *= 2 {
				var want []plan
				for _, n := range sum.all {
					if sum.size(n) == wanted && sum.addrs[n]&^set == 0 {
						want = append(want, plan{n, rows(sum, set&^sum.addrs[n])})
					}
				}
				assert.ElementsMatch(t, want, sum.take(free, wanted))
				assert.Equal(t, len(want) > 0, sum.room(free, wanted))
			}
			for _, b := range sum.all {
				if sum.addrs[b]&^set == 0 {
					assert.Equal(t, rows(sum, set&^sum.addrs[b]), sum.exact(free, b))
				}
				if sum.addrs[b]&set == 0 {
					assert.Equal(t, rows(sum, set|sum.addrs[b]), sum.merge(free, b))
				}
				assert.Equal(t, set&^sum.addrs[b], sum.covered(sum.unlend(free, b)))
			}
		}
	}
}
