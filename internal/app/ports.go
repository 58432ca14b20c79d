package app

import (
	"context"
	"fmt"
	"net"
)

// canListen looks whether the addresses are free before a database is made or migrated for a server that cannot serve. They are listened
// on only when requests can be answered: until then nobody is to connect.
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
