package pgfault

import (
	"context"
	"sync"
)

// Gate holds statements back until a test has seen what it wanted to see: see Hold. The zero Gate is not usable.
type Gate struct {
	open    chan struct{}
	once    sync.Once
	arrived chan Event
}

// unseenArrivals is how many held statements a gate remembers for Await; a test awaits one or a handful.
const unseenArrivals = 64

// NewGate returns a closed gate.
func NewGate() *Gate {
	return &Gate{open: make(chan struct{}), arrived: make(chan Event, unseenArrivals)}
}

// Await returns the next statement that is held at the gate, or the context's error.
func (g *Gate) Await(ctx context.Context) (Event, error) {
	select {
	case e := <-g.arrived:
		return e, nil
	case <-ctx.Done():
		return Event{}, ctx.Err()
	}
}

// Open lets everything held go on, and everything that comes later pass. It may be called more than once.
func (g *Gate) Open() { g.once.Do(func() { close(g.open) }) }

// pass waits at the gate; it returns false when done closes first.
func (g *Gate) pass(e Event, done <-chan struct{}) bool {
	select {
	case g.arrived <- e:
	default:
	}
	select {
	case <-g.open:
		return true
	case <-done:
		return false
	}
}

// link is the network between clients and server: whole, or cut until it is healed.
type link struct {
	mu     sync.Mutex
	healed chan struct{} // nil while whole
}

func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.healed == nil {
		l.healed = make(chan struct{})
	}
}

func (l *link) heal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.healed != nil {
		close(l.healed)
		l.healed = nil
	}
}

// wait returns true when the link is whole, false when done closes first.
func (l *link) wait(done <-chan struct{}) bool {
	for {
		l.mu.Lock()
		healed := l.healed
		l.mu.Unlock()
		if healed == nil {
			return true
		}
		select {
		case <-healed:
		case <-done:
			return false
		}
	}
}
