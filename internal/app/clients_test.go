package app

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestClientConnectionsAreCountedByListener(t *testing.T) {
	t.Parallel()
	a, _ := launchBounded(t, bounds{header: enough, read: enough, idle: enough, slack: enough, grace: enough}, "--metrics-pools=0", "--max-clients=16", "--admin-listen=127.0.0.1:0")
	come := func() net.Conn {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", a.Addr())
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	// told reads the metrics from the admin listener, so that its own connections do not change the metrics of the API listener.
	told := func(lines ...string) {
		t.Helper()
		require.Eventually(t, func() bool {
			text := figuresAt(t, a.AdminAddr())
			for _, line := range lines {
				if !strings.Contains(text, "\n"+line+"\n") {
					return false
				}
			}
			return true
		}, time.Minute, 10*time.Millisecond, lines)
	}
	told(`carve_client_connections{listener="api"} 0`, `carve_client_connections_max{listener="api"} 16`, `carve_client_connections_max{listener="admin"} 256`)
	var all []net.Conn
	for range 16 {
		all = append(all, come())
	}
	told(`carve_client_connections{listener="api"} 16`, `carve_client_connections_closed_total{listener="api",reason="evicted"} 0`)
	all = append(all, come())
	told(`carve_client_connections{listener="api"} 16`, `carve_client_connections_closed_total{listener="api",reason="evicted"} 1`,
		`carve_client_connections_closed_total{listener="api",reason="refused"} 0`, `carve_client_connections_closed_total{listener="admin",reason="evicted"} 0`)
	_, err := all[0].Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF, "the one that waited longest made room")
	for _, conn := range all {
		require.NoError(t, conn.Close())
	}
	told(`carve_client_connections{listener="api"} 0`, `carve_client_connections_closed_total{listener="api",reason="evicted"} 1`)
}
