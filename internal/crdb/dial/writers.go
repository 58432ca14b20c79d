package dial

import (
	"context"
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Writers limits the writing connections. When the deadline of a COMMIT's caller passes, the caller returns but the connection stays busy. It counts
// until the server replies (Answered) or the connection is lost. So a stalled standby cannot bind more sessions than the pool has connections, and a
// quarter stays free for reads.
type Writers struct {
	places chan struct{}

	mu     sync.Mutex
	left   map[*Link]struct{} // their callers have returned
	closed bool
}

// NewWriters returns slots for a pool of this size.
func NewWriters(connections int32) *Writers {
	return &Writers{places: make(chan struct{}, connections-connections/4), left: map[*Link]struct{}{}}
}

// Enter waits for a slot. It fails at once if abandoned COMMITs occupy all slots, because none will soon be free.
func (w *Writers) Enter(ctx context.Context) error {
	select {
	case w.places <- struct{}{}:
		return nil
	default:
	}
	if w.leftAlone() == cap(w.places) {
		return unconfirmed()
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

// leftAlone counts the COMMITs in flight without a caller.
func (w *Writers) leftAlone() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.left)
}

// LeaveAlone records that the caller has abandoned a connection's COMMIT.
func (w *Writers) LeaveAlone(l *Link) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left[l] = struct{}{}
	if w.closed {
		l.cut()
	}
}

// Answered records that a connection's COMMIT is no longer in flight.
func (w *Writers) Answered(l *Link) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.left, l)
}

// Close cuts the connections with abandoned COMMITs. The server finishes those on its own.
func (w *Writers) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for l := range w.left {
		l.cut()
	}
}

func unconfirmed() error {
	e := ipam.Errorf(ipam.CodeUnavailable, "The database confirms no changes: its COMMITs wait, most likely for a standby. Nothing was changed; repeat the request.")
	e.RetryAfter = time.Second
	return e
}
