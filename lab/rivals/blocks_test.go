package rivals

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBlocksAreNumberedInTheirOwnLength(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]uint64{
		"10.0.0.0/32": 0, "10.0.0.7/32": 7, "10.1.0.0/32": 65536, "10.255.255.255/32": 1<<24 - 1,
		"10.0.0.0/24": 0, "10.0.7.0/24": 7, "10.255.255.0/24": 65535,
	} {
		p := netip.MustParsePrefix(text)
		got, err := number(p, p.Bits())
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
		require.Equal(t, p, block(int(want), p.Bits()))
	}
}

func TestWhatNobodyAskedForIsAnError(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"11.0.0.0/24", "10.0.0.0/25", "10.0.0.1/24", "2001:db8::/24"} {
		_, err := number(netip.MustParsePrefix(text), networkBits)
		require.Error(t, err, text)
	}
}

func TestDoublesAreCounted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		handed []uint64
		first  uint64
		want   int
	}{
		"NoneAmongDistinctOnes":     {[]uint64{7, 5, 6}, 5, 0},
		"OneForEachRepetition":      {[]uint64{7, 5, 7, 6, 7}, 5, 2},
		"WhatWasHeldBefore":         {[]uint64{4, 5, 6}, 5, 1},
		"WhatWasHeldBeforeAndTwice": {[]uint64{4, 4, 6}, 5, 2},
		"NoneOfNothing":             {nil, 5, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, doubles(c.handed, c.first))
		})
	}
}
