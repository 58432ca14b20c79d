package pgfault

import (
	"sync"

	"github.com/jackc/pgx/v5/pgproto3"
)

// stepKind is the kind of a step's request.
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

// step is a sent request without a complete response. The server responds in order, so the next message from the server
// belongs to the first step in the queue.
type step struct {
	kind    stepKind
	action  Action
	hidden  bool // the proxy's own request; the client sees only a failure of it
	reached bool // the server has begun its response

	// The proxy can put the statements of a simple query between savepoint statements. In that case, wrapped is the number of the client's
	// statements, and otherwise 0. The client sees only the results of its statements. done is the number of all results so far.
	wrapped int
	done    int
}

// endedBy reports whether the message is the last of a successful response.
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

// endsCycle reports whether the response ends with ReadyForQuery.
func (s *step) endsCycle() bool { return s.kind == stepSync || s.kind == stepQuery }

// pending is the queue of a connection's steps. The goroutine that reads requests fills it, and the goroutine that reads
// responses empties it.
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

// head returns the step to which the next response belongs, or nil if no response is expected.
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

// ready ends a cycle. It removes the steps of the cycle, including the steps that the server skipped after an error.
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

// inTx reports whether a transaction block is open. While the response to an earlier cycle is incomplete, known is false.
func (p *pending) inTx() (open, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status != 'I', p.cycles == 0
}
