package pgfault

import (
	"sync"

	"github.com/jackc/pgx/v5/pgproto3"
)

// stepKind is the request a step stands for.
type stepKind uint8

const (
	stepParse stepKind = iota
	stepBind
	stepDescribe
	stepExecute
	stepClose
	stepSync
	stepQuery // simple query or function call
)

// step is a request that has been sent and whose answer is still to come. The server answers in order, so the first
// step in the queue says what the next message from the server is about.
type step struct {
	kind    stepKind
	action  Action
	hidden  bool // the proxy's own request: the client hears of it only if it fails
	reached bool // the server has begun to answer it

	// In a simple query the proxy has put a savepoint around, the client sees the results of statements 1 to
	// wrapped and not those around them; done counts the results seen. wrapped is 0 elsewhere.
	wrapped int
	done    int
}

// endedBy reports whether the message is the last of a successful answer.
func (s *step) endedBy(msg pgproto3.BackendMessage) bool {
	switch msg.(type) {
	case *pgproto3.ParseComplete:
		return s.kind == stepParse
	case *pgproto3.BindComplete:
		return s.kind == stepBind
	case *pgproto3.RowDescription, *pgproto3.NoData:
		return s.kind == stepDescribe
	case *pgproto3.CommandComplete, *pgproto3.EmptyQueryResponse, *pgproto3.PortalSuspended:
		return s.kind == stepExecute
	case *pgproto3.CloseComplete:
		return s.kind == stepClose
	}
	return false
}

// endsCycle reports whether the server answers the step by ReadyForQuery.
func (s *step) endsCycle() bool { return s.kind == stepSync || s.kind == stepQuery }

// pending is the queue of steps of one connection, filled by the side that reads requests and emptied by the side that
// reads answers.
type pending struct {
	mu     sync.Mutex
	steps  []*step
	cycles int  // steps in the queue that end a cycle
	status byte // of the last ReadyForQuery
}

func (p *pending) push(s *step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.steps = append(p.steps, s)
	if s.endsCycle() {
		p.cycles++
	}
}

// head is the step the next answer belongs to, nil where none is expected.
func (p *pending) head() *step {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.steps) == 0 {
		return nil
	}
	return p.steps[0]
}

func (p *pending) pop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.steps = p.steps[1:]
}

// ready ends a cycle: it removes its steps, those the server skipped after an error included.
func (p *pending) ready(status byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status = status
	for i, s := range p.steps {
		if s.endsCycle() {
			p.steps = p.steps[i+1:]
			p.cycles--
			return
		}
	}
}

// inTx reports whether a transaction block is open; known is false while the answer to an earlier cycle is outstanding.
func (p *pending) inTx() (open, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status != 'I', p.cycles == 0
}
