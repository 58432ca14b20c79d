package proof_test

import (
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// relay forwards connections to a loopback port to a unix socket.
func relay(t *testing.T, socket string) (address string) {
	t.Helper()
	var listen net.ListenConfig
	l, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var open sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close()
		open.Wait()
	})
	var dialer net.Dialer
	open.Go(func() {
		for {
			caller, err := l.Accept()
			if err != nil {
				return // closed
			}
			open.Go(func() {
				defer func() { _ = caller.Close() }()
				database, err := dialer.DialContext(t.Context(), "unix", socket)
				if err != nil {
					return
				}
				defer func() { _ = database.Close() }()
				var ways sync.WaitGroup
				ways.Go(func() { pass(database, caller) })
				ways.Go(func() { pass(caller, database) })
				ways.Wait()
			})
		}
	})
	return l.Addr().String()
}

// pass copies until one side ends, and closes both.
func pass(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_ = to.Close()
	_ = from.Close()
}
