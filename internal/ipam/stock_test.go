package ipam_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/ipam"
)

// change is a row that is added or removed. The row is a free block, or a block in cool-down.
type change struct {
	bits    int
	cooling bool
	n       int64
}

func (c change) stock() ipam.Stock {
	if c.cooling {
		return ipam.Stock{Cooling: map[int]int64{c.bits: c.n}}
	}
	return ipam.Stock{Free: map[int]int64{c.bits: c.n}}
}

func TestStockAfterChangesEqualsTheRowCount(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var came, went []change
		left := ipam.Stock{Free: map[int]int64{}}
		for range rapid.IntRange(0, 60).Draw(t, "rows") {
			row := change{rapid.IntRange(0, 128).Draw(t, "length"), rapid.Bool().Draw(t, "cooling"), 1}
			came = append(came, row)
			if rapid.Bool().Draw(t, "goes") {
				row.n = -1
				went = append(went, row)
				continue
			}
			counts := left.Free
			if row.cooling {
				if left.Cooling == nil {
					left.Cooling = map[int]int64{}
				}
				counts = left.Cooling
			}
			counts[row.bits]++
		}
		shuffle := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0)).Shuffle
		got := ipam.Stock{}
		for _, rows := range [][]change{came, went} {
			shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
			for _, row := range rows {
				var err error
				got, err = got.Plus(row.stock())
				require.NoError(t, err)
			}
		}
		if len(came) > 0 {
			require.Equal(t, left, got)
		}
	})
}

func TestNegativeStockIsRefused(t *testing.T) {
	t.Parallel()
	s := ipam.Stock{Free: map[int]int64{24: 1}, Cooling: map[int]int64{32: 2}}
	for _, c := range []change{{24, false, -2}, {25, false, -1}, {32, true, -3}, {24, true, -1}} {
		_, err := s.Plus(c.stock())
		require.Error(t, err, "%+v", c)
	}
	require.Equal(t, ipam.Stock{Free: map[int]int64{24: 1}, Cooling: map[int]int64{32: 2}}, s, "and stays as it is")
}

func TestRoomNeedsALargeEnoughBlock(t *testing.T) {
	t.Parallel()
	s := ipam.Stock{Free: map[int]int64{26: 1, 30: 4}}
	require.True(t, s.HasRoom(26))
	require.True(t, s.HasRoom(32))
	require.False(t, s.HasRoom(25))
	require.False(t, ipam.Stock{Cooling: map[int]int64{8: 1}}.HasRoom(32))
}
