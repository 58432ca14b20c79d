package dial

import (
	"context"
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Writers bounds the connections that write. Whoever waits for a COMMIT goes when his time is up, and the connection stays, until the server has
// Answered or the connection is lost: it is counted for as long, so that a standby that stalls does not gather more sessions than the pool has
// connections, and a quarter of them is left to read with.
type Writers struct {
	places chan struct{}

	mu     sync.Mutex
	left   map[*Link]struct{} // whose callers are gone
	closed bool
}

// NewWriters makes places for a pool of so many connections.
func NewWriters(connections int32) *Writers {
	return &Writers{places: make(chan struct{}, connections-connections/4), left: map[*Link]struct{}{}}
}

// Enter waits for a place. When all of them are those of COMMITs that nobody waits for any more there is none to come soon.
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

// Leave gives a place back.
func (w *Writers) Leave() { <-w.places }

// leftAlone is how many COMMITs are under way that nobody waits for any more.
func (w *Writers) leftAlone() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.left)
}

// LeaveAlone notes that nobody waits for a connection's COMMIT any more.
func (w *Writers) LeaveAlone(l *Link) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left[l] = struct{}{}
	if w.closed {
		l.cut()
	}
}

// Answered notes that a connection's COMMIT is not under way any more.
func (w *Writers) Answered(l *Link) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.left, l)
}

// Close cuts the connections whose COMMITs nobody waits for; the server ends those by itself.
func (w *Writers) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for l := range w.left {
		l.cut()
	}
}

func unconfirmed() error {
	e := ipam.Errorf(ipam.CodeUnavailable, "The database confirms no changes: its COMMITs wait, for a standby most likely. Nothing was changed; repeat the request.")
	e.RetryAfter = time.Second
	return e
}
