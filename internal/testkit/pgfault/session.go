package pgfault

import (
	"bytes"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// session is one connection of a client with its connection to the server. One goroutine reads requests (requests.go), and another one reads
// responses (answers.go). The first goroutine passes steps to the second through pending.
type session struct {
	p      *Proxy
	conn   int
	client net.Conn
	server net.Conn
	be     *pgproto3.Backend  // to the client: requests.go receives, answers.go sends
	fe     *pgproto3.Frontend // to the server: requests.go sends, answers.go receives

	pending   pending
	cancelled chan struct{} // closed when the server has received a cancel request for this session
	ended     chan struct{} // closed when the server has ended its side

	mu         sync.Mutex
	pid        uint32
	key        []byte
	once       sync.Once               // closes cancelled
	finalError *pgproto3.ErrorResponse // error for the client after the end of the server's side

	requestState
	answerState
}

// requestState is used only by the goroutine that reads requests.
type requestState struct {
	seq        int
	midCycle   bool // the current cycle has had an event
	inTx       bool // a transaction block will be open after the requests so far
	skipping   bool // the client has or will have an error, so its messages up to Sync are ignored
	delay      time.Duration
	statements map[string]*statement // by prepared statement name
	portals    map[string]*portal
}

// answerState is used only by the goroutine that reads responses.
type answerState struct {
	fault     *Action // applies until ReadyForQuery
	errorSent bool    // its error has been sent
	unsent    bool    // the buffer to the client is not empty
	cutOff    bool    // the client is gone; the server's responses are discarded
}

// run relays until the server has ended its side. If the client ends its side, the server sees the end of the request stream. At the end of the
// session, the server has therefore completed all received requests, and has rolled back an open transaction.
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

func (s *session) setFinalError(words *pgproto3.ErrorResponse) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finalError = words
}

// matches reports whether a cancel request is for this session.
func (s *session) matches(m *pgproto3.CancelRequest) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pid == m.ProcessID && bytes.Equal(s.key, m.SecretKey)
}

// flushRequests waits for the delay and the network and sends the buffer to the server.
func (s *session) flushRequests() bool {
	if !s.p.pause(s.delay) || !s.p.link.wait(s.p.ctx.Done()) {
		return false
	}
	s.delay = 0
	return s.fe.Flush() == nil
}

// flushAnswers sends the buffer to the client.
func (s *session) flushAnswers() bool {
	if !s.unsent {
		return true
	}
	s.unsent = false
	return s.p.link.wait(s.p.ctx.Done()) && s.be.Flush() == nil
}

func (s *session) toClient(msg pgproto3.BackendMessage) {
	s.be.Send(msg)
	s.unsent = true
}

// closeWrite ends the stream to a peer that may still be sending.
func closeWrite(conn net.Conn) {
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // the peer may have closed first
		return
	}
	_ = conn.Close()
}
