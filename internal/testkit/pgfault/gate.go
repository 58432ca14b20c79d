package pgfault

import (
	"context"
	"sync"
)

// Gate delays statements until a test opens it. See Hold. The zero Gate is not usable.
type Gate struct {
	open    chan struct{}
	once    sync.Once
	arrived chan Event
}

// unseenArrivals is the maximum number of held statements that a gate remembers for Await. Tests await only a few.
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

// Open releases all held statements and lets later ones pass. It may be called more than once.
func (g *Gate) Open() { g.once.Do(func() { close(g.open) }) }

// pass waits until the gate opens. It returns false if done closes first.
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

// link is the network between clients and the server. It is connected, or cut until heal is called.
type link struct {
	mu     sync.Mutex
	healed chan struct{} // nil while connected
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

// wait waits until the link is connected. It returns false if done closes first.
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
