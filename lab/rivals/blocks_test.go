package rivals

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAddressesAreNumbered(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]uint64{"10.0.0.0/32": 0, "10.0.0.7/32": 7, "10.1.0.0/32": 65536, "11.0.0.0/32": 1 << 24} {
		got, err := number(netip.MustParsePrefix(text))
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
}

func TestBlockOutsideOfTheRequestsIsAnError(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"12.0.0.0/32", "10.0.0.0/31", "2001:db8::/128"} {
		_, err := number(netip.MustParsePrefix(text))
		require.Error(t, err, text)
	}
}

func TestBlocksHandedOutTwiceAreCounted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		handed []uint64
		first  uint64
		want   int
	}{
		"NoneAmongDistinctOnes":          {[]uint64{7, 5, 6}, 5, 0},
		"OneForEachRepetition":           {[]uint64{7, 5, 7, 6, 7}, 5, 2},
		"OneForAHeldBlock":               {[]uint64{4, 5, 6}, 5, 1},
		"TwoForAHeldBlockHandedOutTwice": {[]uint64{4, 4, 6}, 5, 2},
		"NoneOfNothing":                  {nil, 5, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, doubles(c.handed, c.first))
		})
	}
}
