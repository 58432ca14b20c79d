package guard_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/guard"
)

// reader is a handler that records the body that it has read, and the error.
type reader struct {
	read string
	err  error
}

// ServeHTTP implements http.Handler.
func (h *reader) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	h.read, h.err = string(data), err
}

func TestStalledBodyIsAborted(t *testing.T) {
	t.Parallel()
	h, done := &reader{}, make(chan struct{})
	// long enough for the beginning of the body to arrive, even in several reads
	pace := guard.Pace{Grace: 5 * time.Second, Rate: 1 << 20, Longest: time.Hour}
	s := httptest.NewServer(guard.Bodies{Small: 8, Large: 1 << 20, LargeAtOnce: 1, Pace: pace}.Handler(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer close(done)
			h.ServeHTTP(w, r)
		})))
	t.Cleanup(s.Close)
	body, more := io.Pipe()
	t.Cleanup(func() { _ = more.Close() })
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, body)
	require.NoError(t, err)
	go func() {
		_, _ = io.WriteString(more, "the beginning")
	}()
	go func() {
		if w, err := s.Client().Do(r); err == nil {
			_ = w.Body.Close()
		}
	}()
	<-done
	require.ErrorIs(t, h.err, os.ErrDeadlineExceeded)
	require.Equal(t, "the beginning", h.read)
}

func TestBodyAtItsMinimumRateIsRead(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]guard.Bodies{
		"Small": {Small: 2 << 20, Large: 4 << 20, LargeAtOnce: 1}, "JustSmall": {Small: 1 << 20, Large: 4 << 20, LargeAtOnce: 1}, "Large": {Small: 1 << 10, Large: 4 << 20, LargeAtOnce: 1},
		"JustLarge": {Small: 1 << 10, Large: 1 << 20, LargeAtOnce: 1}, "TooLarge": {Small: 1 << 10, Large: 2 << 10, LargeAtOnce: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &reader{}
			b.Pace = guard.Pace{Grace: time.Minute, Rate: 1, Longest: time.Hour}
			s := httptest.NewServer(b.Handler(h))
			t.Cleanup(s.Close)
			want := strings.Repeat("x", 1<<20)
			for _, announced := range []int64{int64(len(want)), -1} {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, struct{ io.Reader }{strings.NewReader(want)})
				require.NoError(t, err)
				r.ContentLength = announced
				w, err := s.Client().Do(r)
				require.NoError(t, err)
				require.NoError(t, w.Body.Close())
				require.NoError(t, h.err)
				require.Equal(t, want, h.read)
			}
		})
	}
}

// When a body has ended, the server removes the read deadline, so that it notices when the client disconnects. Bodies must not set the deadline
// again. Otherwise a handler that works longer than Pace allows would lose its context.
func TestHandlerMayWorkLongerThanTheBodyDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pace := guard.Pace{Grace: time.Second, Rate: 1 << 20, Longest: time.Minute}
		var read, after, gone error
		client := inBubble(t, guard.Bodies{Small: 1 << 10, Large: 1 << 20, LargeAtOnce: 1, Pace: pace}.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, read = io.ReadAll(r.Body)
			_, after = r.Body.Read(make([]byte, 1))
			work := time.NewTimer(time.Hour)
			defer work.Stop()
			select {
			case <-work.C:
			case <-r.Context().Done():
				gone = r.Context().Err()
			}
		})))
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://bubble/", strings.NewReader("all of it"))
		require.NoError(t, err)
		w, err := client.Do(r)
		require.NoError(t, err)
		require.NoError(t, w.Body.Close())
		require.NoError(t, read)
		require.ErrorIs(t, after, io.EOF, "the body has an end")
		require.NoError(t, gone)
	})
}

// behind is a server whose handler is wrapped by Bodies. The channels receive the number of bytes that the handler has read, or the error.
type behind struct {
	address string
	arrived chan int64
	failed  chan error
}

func newBehind(t *testing.T, b guard.Bodies, clients *guard.Clients) *behind {
	t.Helper()
	h := &behind{arrived: make(chan int64, 64), failed: make(chan error, 64)}
	s := httptest.NewUnstartedServer(b.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		h.arrived <- n
		h.failed <- err
	})))
	s.Config.ConnState, s.Config.ConnContext = clients.State, clients.Context
	s.Listener = clients.Listener(s.Listener)
	s.Start()
	t.Cleanup(s.Close)
	h.address = s.Listener.Addr().String()
	return h
}

// begin sends the head of a request and a part of its body.
func (h *behind) begin(t *testing.T, announced int, body string) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", h.address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	// The write fails if the server has closed the connection because the limit is reached.
	_, _ = fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", announced, body)
}

func TestSmallBodiesDoNotWaitForLargeOnes(t *testing.T) {
	t.Parallel()
	pace := guard.Pace{Grace: 300 * time.Millisecond, Rate: 1, Longest: time.Minute}
	h := newBehind(t, guard.Bodies{Small: 16, Large: 1 << 10, LargeAtOnce: 1, Pace: pace}, guard.NewClients(16, func(guard.Load) {}))
	// Bodies reads the first request ahead for a long time, because its bytes arrived faster than Pace requires. The second request waits for its turn.
	for range 2 {
		h.begin(t, 1000, strings.Repeat("x", 999))
	}
	require.Zero(t, <-h.arrived)
	require.ErrorIs(t, <-h.failed, guard.ErrTooManyBodies)
	for range 3 {
		h.begin(t, 2, "{}")
		require.Equal(t, int64(2), <-h.arrived)
		require.NoError(t, <-h.failed)
	}
}

func TestConnectionWaitingForItsBodyIsEvicted(t *testing.T) {
	t.Parallel()
	clients := guard.NewClients(1, func(guard.Load) {})
	h := newBehind(t, guard.Bodies{Small: 16, Large: 1 << 10, LargeAtOnce: 1, Pace: guard.Pace{Grace: time.Hour, Rate: 1, Longest: time.Hour}}, clients)
	h.begin(t, 9, "{")
	require.Eventually(t, func() bool { // there is no room until the server waits for the first body
		h.begin(t, 2, "{}")
		select {
		case n := <-h.arrived:
			return n == 2
		case <-time.After(50 * time.Millisecond):
			return false
		}
	}, time.Minute, 10*time.Millisecond)
	require.Positive(t, clients.Load().Evicted)
}
