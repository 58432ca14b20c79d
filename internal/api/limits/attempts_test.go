package limits

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNetworkOfAnAddress(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"192.0.2.1": "192.0.2.1", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64", "2001:db8:1:2::1": "2001:db8:1:2::/64", "": "", "@": "@",
	} {
		require.Equal(t, want, network(address), address)
	}
}
