package packed_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/cli/packed"
)

func TestPackedValuesAreReadBack(t *testing.T) {
	t.Parallel()
	tokens := []string{"", "r", "0190a7c0-5b1e-7c3a-9d2f-3b1f0e8c4d55", "0190A7C0-5B1E-7C3A-9D2F-3B1F0E8C4D55", "0190a7c05b1e7c3a9d2f3b1f0e8c4d55", "exactly 16 bytes"}
	blocks := []netip.Prefix{{}, netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/128")}
	var b []byte
	for _, token := range tokens {
		b = packed.AppendToken(b, token)
	}
	for _, block := range blocks {
		b = packed.AppendBlock(b, block)
	}
	b = packed.AppendText(packed.AppendNumber(b, 1<<40), "end")

	r := packed.Rest(b)
	for _, token := range tokens {
		require.Equal(t, token, r.Token())
	}
	for _, block := range blocks {
		require.Equal(t, block, r.Block())
	}
	require.Equal(t, uint64(1<<40), r.Number())
	require.Equal(t, "end", r.Text())
	require.Empty(t, r)
}
