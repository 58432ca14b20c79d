package loopback_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/lab/loopback"
)

func TestAddressesAreFreeAndDistinct(t *testing.T) {
	t.Parallel()
	try := func() error {
		addresses, err := loopback.Free(t.Context(), 600)
		require.NoError(t, err)
		require.Len(t, addresses, 600)
		var held []net.Listener
		defer func() {
			for _, l := range held {
				_ = l.Close()
			}
		}()
		for _, a := range addresses { // all at the same time, so that a port that occurs twice would fail
			l, err := net.Listen("tcp", a)
			if err != nil {
				return err
			}
			held = append(held, l)
		}
		return nil
	}
	err := try()
	for range 9 { // another process may take one address in the meantime
		if err == nil {
			break
		}
		err = try()
	}
	require.NoError(t, err)
}
