package guard_test

import (
	"context"
	"net"
	"net/http"
	"testing"
)

// pipes is a listener with connections in memory, for the synthetic time of testing/synctest.
type pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
}

// Accept implements net.Listener.
func (p pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.accepted:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p pipes) Close() error {
	close(p.closed)
	return nil
}

// Addr implements net.Listener.
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "bubble", Net: "pipe"} }

// inBubble starts a server in the synthetic time of the test, and returns a client. The server runs until the test ends.
func inBubble(t *testing.T, h http.Handler) *http.Client {
	t.Helper()
	p := pipes{accepted: make(chan net.Conn), closed: make(chan struct{})}
	server, ended := &http.Server{Handler: h}, make(chan error, 1)
	go func() { ended <- server.Serve(p) }()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		mine, theirs := net.Pipe()
		select {
		case p.accepted <- theirs:
			return mine, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = server.Close()
		<-ended
	})
	return &http.Client{Transport: transport}
}
