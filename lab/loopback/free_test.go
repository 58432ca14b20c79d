package loopback_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/lab/loopback"
)

func TestAddressesAreFreeAndDiffer(t *testing.T) {
	t.Parallel()
	addresses, err := loopback.Free(t.Context(), 600)
	require.NoError(t, err)
	require.Len(t, addresses, 600)
	for _, a := range addresses { // all at the same time; the system would give some port twice
		l, err := net.Listen("tcp", a)
		require.NoError(t, err)
		t.Cleanup(func() { _ = l.Close() })
	}
}
