package pgfault

import (
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgproto3"
)

// serve handles one connection of a client from its first byte to its end.
func (p *Proxy) serve(client net.Conn) {
	defer p.track(client)()
	be := pgproto3.NewBackend(client, client)
	msg, err := be.ReceiveStartupMessage()
	for err == nil && asksForEncryption(msg) {
		if _, err = client.Write([]byte{'N'}); err == nil {
			msg, err = be.ReceiveStartupMessage()
		}
	}
	if err != nil {
		return
	}
	switch m := msg.(type) {
	case *pgproto3.CancelRequest:
		p.cancel(m)
	case *pgproto3.StartupMessage:
		s := p.open(client, be)
		defer p.end(s)
		s.start(m)
	}
}

func asksForEncryption(msg pgproto3.FrontendMessage) bool {
	switch msg.(type) {
	case *pgproto3.SSLRequest, *pgproto3.GSSEncRequest:
		return true
	}
	return false
}

// start takes a session through start-up and authentication and relays it until its end.
func (s *session) start(m *pgproto3.StartupMessage) {
	if _, ok := s.admit(s.event(Connect, &statement{}, false)); !ok {
		if s.finalError != nil {
			s.toClient(s.finalError)
			s.flushAnswers()
		}
		return
	}
	if !s.p.pause(s.delay) || !s.p.link.wait(s.p.ctx.Done()) {
		return
	}
	s.delay = 0
	server, err := s.p.upstream.dial(s.p.ctx)
	if err != nil {
		s.refuse("08001", err)
		return
	}
	defer s.p.track(server)()
	s.server = server
	s.fe = pgproto3.NewFrontend(server, server)
	delete(m.Parameters, "transaction_timeout") // a setting for CockroachDB; some tests use PostgreSQL 15, which does not know this setting
	s.fe.Send(m)
	if err := s.authenticate(); err != nil {
		s.refuse("08P01", err)
		return
	}
	s.run()
}

// errRefused reports that the server has refused the connection and the client has the server's error.
var errRefused = errors.New("the server refused the connection")

// authenticate relays until the server is ready for the first query. During authentication, a response of the server can require a request of the
// client. One goroutine therefore serves both directions in turn.
func (s *session) authenticate() error {
	if err := s.fe.Flush(); err != nil {
		return err
	}
	for {
		msg, err := s.fe.Receive()
		if err != nil {
			return err
		}
		s.be.Send(msg)
		asks := false
		switch m := msg.(type) {
		case *pgproto3.AuthenticationCleartextPassword, *pgproto3.AuthenticationMD5Password,
			*pgproto3.AuthenticationSASL, *pgproto3.AuthenticationSASLContinue,
			*pgproto3.AuthenticationGSS, *pgproto3.AuthenticationGSSContinue:
			asks = true
		case *pgproto3.BackendKeyData:
			s.mu.Lock()
			s.pid, s.key = m.ProcessID, append([]byte(nil), m.SecretKey...)
			s.mu.Unlock()
		case *pgproto3.ErrorResponse:
			_ = s.be.Flush() // the connection is over either way
			return errRefused
		case *pgproto3.ReadyForQuery:
			s.pending.ready(m.TxStatus)
			return s.be.Flush()
		}
		if asks {
			if err := s.relayPassword(); err != nil {
				return err
			}
		}
	}
}

func (s *session) relayPassword() error {
	// Password, SASL and GSS responses share one type byte; only the request distinguishes them.
	if err := s.be.SetAuthType(s.fe.GetAuthType()); err != nil {
		return err
	}
	if err := s.be.Flush(); err != nil {
		return err
	}
	reply, err := s.be.Receive()
	if err != nil {
		return err
	}
	s.fe.Send(reply)
	return s.fe.Flush()
}

// refuse sends the client the reason for the missing connection, unless the server has already sent it.
func (s *session) refuse(code string, err error) {
	if errors.Is(err, errRefused) {
		return
	}
	s.toClient(Action{Answer: Fatal, Code: code, Message: err.Error()}.error())
	s.flushAnswers()
}

// cancel delivers a cancel request. The server closes its connection after it has acted on the request. The proxy closes the client's connection only
// after that, so that the client can wait for the cancellation.
func (p *Proxy) cancel(m *pgproto3.CancelRequest) {
	if !p.link.wait(p.ctx.Done()) {
		return
	}
	server, err := p.upstream.dial(p.ctx)
	if err != nil {
		return
	}
	defer p.track(server)()
	raw, err := m.Encode(nil)
	if err != nil {
		return
	}
	if _, err := server.Write(raw); err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, server) // until the server closes
	for _, s := range p.live() {
		if s.matches(m) {
			s.once.Do(func() { close(s.cancelled) })
		}
	}
}
