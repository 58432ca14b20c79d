package dial

import (
	"context"
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Writers limits the number of connections that write.
//
// If a caller's deadline passes during a COMMIT, the caller returns but the connection stays busy. Such a connection keeps its slot until the server
// replies (CommitEnded) or the connection is lost. So when a standby stalls, waiting COMMITs use at most three quarters of the pool's connections.
// The last quarter stays free for reads.
type Writers struct {
	places chan struct{}

	mu     sync.Mutex
	left   map[*Link]struct{} // links with a COMMIT in flight whose caller has returned
	closed bool
}

// NewWriters returns the slots for a pool with this number of connections.
func NewWriters(connections int32) *Writers {
	return &Writers{places: make(chan struct{}, connections-connections/4), left: map[*Link]struct{}{}}
}

// Enter waits for a slot. If abandoned COMMITs use all slots, no slot will soon be free. Then Enter fails at once.
func (w *Writers) Enter(ctx context.Context) error {
	select {
	case w.places <- struct{}{}:
		return nil
	default:
	}
	if w.leftAlone() == cap(w.places) {
		e := ipam.Errorf(ipam.CodeUnavailable, "The database confirms no changes: its COMMITs wait, most likely for a standby. Nothing was changed; repeat the request.")
		e.RetryAfter = time.Second
		return e
	}
	select {
	case w.places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Leave frees a slot.
func (w *Writers) Leave() { <-w.places }

// leftAlone returns the number of COMMITs in flight whose callers have returned.
func (w *Writers) leftAlone() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.left)
}

// LeaveAlone records that a COMMIT's caller has returned before the server's reply.
func (w *Writers) LeaveAlone(l *Link) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left[l] = struct{}{}
	if w.closed {
		l.cut()
	}
}

// CommitEnded records that a COMMIT is no longer in flight on the connection.
func (w *Writers) CommitEnded(l *Link) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.left, l)
}

// Close closes the connections with abandoned COMMITs. The server ends these COMMITs by itself.
func (w *Writers) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for l := range w.left {
		l.cut()
	}
}
