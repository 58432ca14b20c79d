package app

import (
	"context"
	"fmt"
	"net"
)

// canListen checks that the addresses are free, before the server creates or migrates a database that it could not serve. The server listens on them
// only when it can serve requests: until then no client should connect.
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
