package app

import (
	"context"
	"fmt"
	"net"
)

// canListen checks that the listen addresses are free. It runs early, so that the server does not create or migrate a database and then fail to
// listen. The server opens its listeners only when it can serve requests, because clients should not connect earlier.
func (c Config) canListen(ctx context.Context) error {
	for _, l := range []struct{ address, flag string }{{c.Listen, ""}, {c.AdminListen, " (--admin-listen)"}} {
		if l.address == "" {
			continue
		}
		tried, err := (&net.ListenConfig{}).Listen(ctx, "tcp", l.address)
		if err != nil {
			return fmt.Errorf("cannot listen on %s%s: %w", l.address, l.flag, err)
		}
		if err := tried.Close(); err != nil {
			return fmt.Errorf("cannot listen on %s%s: %w", l.address, l.flag, err)
		}
	}
	return nil
}
