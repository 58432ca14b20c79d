package rows_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

func TestStockRoundTrips(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.MapOfN(rapid.IntRange(0, 128), rapid.Int64Range(1, 1<<62), 0, 129)
		s := ipam.Stock{Free: counts.Draw(t, "free")}
		if cooling := counts.Draw(t, "cooling"); len(cooling) > 0 {
			s.Cooling = cooling
		}
		stored := rows.EncodeStock(s)
		got, err := rows.DecodeStock(stored)
		require.NoError(t, err)
		require.Equal(t, s, got)
		for cut := range stored {
			if part, err := rows.DecodeStock(stored[:cut]); err == nil {
				require.NotEqual(t, s, part, "a part of it is not it")
			}
		}
	})
}

func TestStockEncodingIsCompact(t *testing.T) {
	t.Parallel()
	s := ipam.Stock{Free: map[int]int64{}}
	for bits := 16; bits <= 32; bits++ {
		s.Free[bits] = 1
	}
	require.LessOrEqual(t, len(rows.EncodeStock(s)), 2+2*17)
	require.Equal(t, []byte{1, 0}, rows.EncodeStock(ipam.Stock{}))
}

func TestMalformedStockIsRefused(t *testing.T) {
	t.Parallel()
	for name, stored := range map[string][]byte{
		"nothing": {}, "another form": {2, 0}, "no count": {1}, "half a number": {1, 0x80}, "half a pair": {1, 1, 24}, "more than there is": {1, 2, 24, 1},
		"more than could be": {1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
	} {
		_, err := rows.DecodeStock(stored)
		require.Error(t, err, name)
	}
}
