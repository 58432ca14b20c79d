package e2e

import (
	"net"
	"net/http"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/testkit/pgfault"
)

// A stopping server accepts no new connections. It completes the requests that are already running.
func TestStopLetsRunningRequestsEnd(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]syscall.Signal{"SIGTERM": syscall.SIGTERM, "SIGINT": syscall.SIGINT} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testDrain(t, signal)
		})
	}
}

// testDrain holds a request at its COMMIT and stops the server. When the server no longer listens, testDrain lets the request continue.
func testDrain(t *testing.T, signal syscall.Signal) {
	t.Helper()
	dsn := database(t)
	proxy, err := pgfault.Start(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(proxy.Close)
	// The server's own jobs run no transactions, so the next COMMIT belongs to the request.
	p := startProcess(t, serverBinary(t), nil, "--database-url="+proxy.DSN(), "--request-timeout=60s", "--metrics-pools=0")
	c := newCaller(p.Addr())
	c.created(t, c.do(t, http.MethodPost, "/v1/projects", obj{"metadata": obj{"name": project}}))
	c.pool(t, "p", obj{"cidr": "10.0.0.0/24"})

	gate := pgfault.NewGate()
	proxy.SetRules(pgfault.Once(pgfault.On(pgfault.Commit, pgfault.Hold(gate))))
	answered := make(chan answer, 1)
	go func() {
		a, err := c.try(t.Context(), t, http.MethodPost, at("claims"), named("c", from("p", 32)))
		if err != nil {
			t.Errorf("the running request was cut off: %v", err)
		}
		answered <- a
	}()
	_, err = gate.Await(t.Context())
	require.NoError(t, err)
	require.NoError(t, p.Signal(signal))
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", p.Addr())
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	}, waitLimit, tick, "no new connections")
	gate.Open()

	claim := decode[client.IPClaim](t, <-answered)
	require.NoError(t, p.Wait())
	again := newCaller(serve(t, dsn))
	got := decode[client.IPClaim](t, again.ok(t, again.do(t, http.MethodGet, at("claims", "c"), nil)))
	require.Equal(t, claim, got)
}
