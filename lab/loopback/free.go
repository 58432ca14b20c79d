// Package loopback finds addresses for programs that cannot be told to choose one themselves.
package loopback

import (
	"context"
	"net"
)

// Free answers so many addresses of loopback, host:port, that nobody listens on. They are held together, so that no two are the same; who takes one
// between here and the program's start makes that program end.
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
