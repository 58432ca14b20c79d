package pgfault

import (
	"bytes"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// session is one connection of a client and the connection to the server that belongs to it. One goroutine reads
// requests (requests.go), one reads answers (answers.go); pending is what the first tells the second.
type session struct {
	p      *Proxy
	conn   int
	client net.Conn
	server net.Conn
	be     *pgproto3.Backend  // towards the client: requests receives, answers sends
	fe     *pgproto3.Frontend // towards the server: requests sends, answers receives

	pending   pending
	cancelled chan struct{} // closed when a cancel request for this session has been delivered
	ended     chan struct{} // closed when the server has ended its side

	mu        sync.Mutex
	pid       uint32
	key       []byte
	once      sync.Once               // of cancelled
	lastWords *pgproto3.ErrorResponse // what to tell the client when the server has gone

	requestState
	answerState
}

// requestState belongs to the goroutine that reads requests.
type requestState struct {
	seq        int
	midCycle   bool // an event of the present cycle has been seen
	inTx       bool // a transaction block will be open when the requests so far have run
	skipping   bool // the client has been or will be told an error: ignore its messages up to Sync
	delay      time.Duration
	statements map[string]*statement // by prepared statement name
	portals    map[string]*portal
}

// answerState belongs to the goroutine that reads answers.
type answerState struct {
	fault  *Action // in force until ReadyForQuery
	told   bool    // its error has been sent
	unsent bool    // there is something in the buffer towards the client
	cutOff bool    // the client is gone; the server's answers are read and thrown away
}

// run relays until the server has ended its side. Whatever ends the client's side is passed on as the end of the
// request stream, so "the session is over" means that the server has finished all it was sent and has rolled back the
// rest.
func (s *session) run() {
	var wg sync.WaitGroup
	wg.Go(s.relayAnswers)
	s.relayRequests()
	wg.Wait()
}

// error builds the ErrorResponse of an action.
func (a Action) error() *pgproto3.ErrorResponse {
	severity := "ERROR"
	if a.Answer == Fatal {
		severity = "FATAL"
	}
	return &pgproto3.ErrorResponse{
		Severity: severity, SeverityUnlocalized: severity, Code: a.Code, Message: a.Message + byUs,
	}
}

func (s *session) sayAtEnd(words *pgproto3.ErrorResponse) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastWords = words
}

// matches reports whether a cancel request is for this session.
func (s *session) matches(m *pgproto3.CancelRequest) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pid == m.ProcessID && bytes.Equal(s.key, m.SecretKey)
}

// flushRequests waits out the network and sends what is buffered for the server.
func (s *session) flushRequests() bool {
	if !s.p.pause(s.delay) || !s.p.link.wait(s.p.ctx.Done()) {
		return false
	}
	s.delay = 0
	return s.fe.Flush() == nil
}

// flushAnswers sends what is buffered for the client.
func (s *session) flushAnswers() bool {
	if !s.unsent {
		return true
	}
	s.unsent = false
	return s.p.link.wait(s.p.ctx.Done()) && s.be.Flush() == nil
}

func (s *session) tell(msg pgproto3.BackendMessage) {
	s.be.Send(msg)
	s.unsent = true
}

// closeWrite ends the stream towards a peer that may still be talking.
func closeWrite(conn net.Conn) {
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // the peer may have gone first
		return
	}
	_ = conn.Close()
}
