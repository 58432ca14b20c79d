// Package loopback finds free addresses for programs that cannot choose one themselves.
package loopback

import (
	"context"
	"net"
)

// Free returns n unused loopback addresses, host:port. It reserves them together, so that they all differ. If another process takes one before the
// program starts, the program ends.
func Free(ctx context.Context, n int) (addresses []string, err error) {
	for range n {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() //nolint:revive // all of them, at the end
		addresses = append(addresses, l.Addr().String())
	}
	return addresses, nil
}
