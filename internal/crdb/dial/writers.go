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
	slots chan struct{}

	mu        sync.Mutex
	abandoned map[*Link]struct{} // links with a COMMIT in flight whose caller has returned
	closed    bool
}

// NewWriters returns a Writers for a pool with this number of connections.
func NewWriters(connections int32) *Writers {
	return &Writers{slots: make(chan struct{}, connections-connections/4), abandoned: map[*Link]struct{}{}}
}

// Enter waits for a slot. If abandoned COMMITs use all slots, no slot will be free soon, so Enter fails at once.
func (w *Writers) Enter(ctx context.Context) error {
	select {
	case w.slots <- struct{}{}:
		return nil
	default:
	}
	if w.countAbandoned() == cap(w.slots) {
		e := ipam.Errorf(ipam.CodeUnavailable, "The database confirms no changes: its COMMITs wait, most likely for a standby. Nothing was changed; repeat the request.")
		e.RetryAfter = time.Second
		return e
	}
	select {
	case w.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Leave frees a slot.
func (w *Writers) Leave() { <-w.slots }

// countAbandoned returns the number of COMMITs in flight whose callers have returned.
func (w *Writers) countAbandoned() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.abandoned)
}

// Abandon records that a COMMIT's caller has returned before the server's reply.
func (w *Writers) Abandon(l *Link) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.abandoned[l] = struct{}{}
	if w.closed {
		l.cut()
	}
}

// CommitEnded records that a COMMIT is no longer in flight on the connection.
func (w *Writers) CommitEnded(l *Link) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.abandoned, l)
}

// Close closes the connections with abandoned COMMITs. The server ends these COMMITs by itself.
func (w *Writers) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for l := range w.abandoned {
		l.cut()
	}
}
