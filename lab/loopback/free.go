// Package loopback finds free addresses for programs that cannot choose one themselves.
package loopback

import (
	"context"
	"net"
)

// Free returns n unused loopback addresses as host:port. It reserves all of them at the same time, so that they differ. If another process takes an
// address before the program uses it, the program fails to start.
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
