package guard_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/guard"
)

// arriving is a listener whose connections come from the addresses that a test chooses.
type arriving struct {
	net.Listener
	queue chan *pretended
}

// Accept implements net.Listener.
func (a *arriving) Accept() (net.Conn, error) {
	c, ok := <-a.queue
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

// pretended is a connection that only has a client address. It records whether it was closed.
type pretended struct {
	net.Conn
	from   string
	closed bool
}

// RemoteAddr implements net.Conn.
func (p *pretended) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(p.from), Port: 1} }

// Close implements net.Conn.
func (p *pretended) Close() error { p.closed = true; return nil }

// door is a limit on connections. A test opens connections to it one after another.
type door struct {
	*guard.Clients
	l     net.Listener
	queue chan *pretended
	told  []guard.Load
}

func newDoor(limit int) *door {
	d := &door{queue: make(chan *pretended)}
	d.Clients = guard.NewClients(limit, func(l guard.Load) { d.told = append(d.told, l) })
	d.l = d.Listener(&arriving{queue: d.queue})
	return d
}

// come opens a connection from an address. It returns the connection, and the connection that the server sees.
func (d *door) come(from string) (*pretended, net.Conn) {
	p := &pretended{from: from}
	accepted := make(chan net.Conn, 1)
	go func() {
		c, _ := d.l.Accept()
		accepted <- c
	}()
	d.queue <- p
	return p, <-accepted
}

func TestOldestIdleConnectionOfTheLargestClientIsEvicted(t *testing.T) {
	t.Parallel()
	d := newDoor(4)
	alone, inAlone := d.come("192.0.2.1")
	first, inFirst := d.come("192.0.2.7")
	second, _ := d.come("192.0.2.7")
	third, inThird := d.come("192.0.2.7")
	require.Equal(t, guard.Load{Open: 4, Limit: 4}, d.Load())

	d.State(inFirst, http.StateActive)
	newcomer, in := d.come("192.0.2.2")
	require.NotNil(t, in)
	require.Equal(t, []bool{false, false, true, false, false}, closedOf(alone, first, second, third, newcomer), "not who is at work, and not who came first from elsewhere")
	require.Equal(t, guard.Load{Open: 4, Limit: 4, Evicted: 1}, d.Load())

	d.State(inAlone, http.StateActive)
	d.State(inThird, http.StateActive)
	d.State(in, http.StateActive)
	d.State(inFirst, http.StateIdle)
	last, in := d.come("192.0.2.3")
	require.NotNil(t, in)
	require.Equal(t, []bool{false, true, false, false, false}, closedOf(alone, first, third, newcomer, last), "the only one that waits")
	require.Len(t, d.told, 2)

	require.NoError(t, inThird.Close())
	require.NoError(t, inThird.Close(), "twice is once")
	require.NoError(t, inFirst.Close(), "as its server does when it notices")
	require.Equal(t, 3, d.Load().Open)
}

func TestOneOfEqualClientsIsEvicted(t *testing.T) {
	t.Parallel()
	d := newDoor(2)
	a, _ := d.come("2001:db8::1")
	b, _ := d.come("2001:db8:0:1::1")
	_, in := d.come("2001:db8:0:2::1")
	require.NotNil(t, in)
	require.Equal(t, 1, count(closedOf(a, b)))
}

func TestIPv6NetworkCountsAsOneClient(t *testing.T) {
	t.Parallel()
	d := newDoor(3)
	other, _ := d.come("2001:db8::1")
	first, _ := d.come("2001:db8:0:1::1")
	second, _ := d.come("2001:db8:0:1:ffff::2")
	d.come("192.0.2.1")
	require.Equal(t, []bool{false, true, false}, closedOf(other, first, second))
}

func TestNewConnectionIsRefusedIfAllAreActive(t *testing.T) {
	t.Parallel()
	d := newDoor(1)
	working, in := d.come("192.0.2.1")
	d.State(in, http.StateActive)
	accepted := make(chan net.Conn, 1)
	go func() {
		c, _ := d.l.Accept()
		accepted <- c
	}()
	one, two := &pretended{from: "192.0.2.2"}, &pretended{from: "192.0.2.3"}
	d.queue <- one
	d.queue <- two // the server receives this connection after it has refused the one before
	close(d.queue)
	require.Nil(t, <-accepted)
	require.Equal(t, []bool{false, true, true}, closedOf(working, one, two))
	require.Equal(t, guard.Load{Open: 1, Limit: 1, Refused: 2}, d.Load())
}

func closedOf(all ...*pretended) []bool {
	out := make([]bool, len(all))
	for i, p := range all {
		out[i] = p.closed
	}
	return out
}

func count(all []bool) (n int) {
	for _, yes := range all {
		if yes {
			n++
		}
	}
	return n
}

func TestServerServesDespiteIdleConnections(t *testing.T) {
	t.Parallel()
	const limit = 8
	clients := guard.NewClients(limit, func(guard.Load) {})
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &http.Server{
		ReadHeaderTimeout: time.Minute, ConnState: clients.State,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }),
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(clients.Listener(l)) }()
	t.Cleanup(func() {
		require.NoError(t, s.Close())
		require.ErrorIs(t, <-ended, http.ErrServerClosed)
		require.Zero(t, clients.Load().Open, "all are given back")
	})
	for i := range 3 * limit {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		if i%2 == 0 {
			continue // this client sends nothing
		}
		_, err = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		require.NoError(t, err)
		w, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusNoContent, w.StatusCode)
		require.NoError(t, w.Body.Close())
	}
	load := clients.Load()
	require.LessOrEqual(t, load.Open, limit)
	require.Positive(t, load.Evicted)
}
