package procstat

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTreeSumsExactlyTheDescendants(t *testing.T) {
	t.Parallel()
	all := Times{
		1:  {own: 1 << 10, ended: 1 << 11},
		10: {parent: 1, own: 1, ended: 2},
		20: {parent: 10, own: 4, ended: 8},
		30: {parent: 20, own: 16},
		40: {parent: 10, own: 32},
		50: {parent: 1, own: 64, ended: 128},
	}
	for pid, want := range map[int]int{10: 63, 20: 28, 30: 16, 50: 192, 60: 0} {
		require.EqualValues(t, want, all.Tree(pid), pid)
	}
}
