package model

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The steps must choose among all blocks of a size, so that they omit no block that the product could give to a claim. The functions must also agree
// with arithmetic on sets of addresses. So they compute Carved, Merged and Unlent as the text defines them.
func TestStepsEqualTheArithmeticOfTheText(t *testing.T) {
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
