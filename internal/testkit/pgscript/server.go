package pgscript

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Server is a scripted server. Make one with Start, and Close it.
type Server struct {
	script   Script
	listener net.Listener
	wg       sync.WaitGroup

	mu    sync.Mutex
	conns map[int]net.Conn
	last  int
	said  []Line
	times map[string]int
	done  bool
}

// Start listens on a free loopback port.
func Start(ctx context.Context, script Script) (*Server, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{script: script, listener: listener, conns: map[int]net.Conn{}, times: map[string]int{}}
	s.wg.Go(s.accept)
	return s, nil
}

// DSN returns the server's address as the DSN of a database called carve.
func (s *Server) DSN() string {
	return fmt.Sprintf("postgresql://root@%s/carve?sslmode=disable", s.listener.Addr())
}

// Close cuts every connection and waits for all goroutines.
func (s *Server) Close() {
	s.mu.Lock()
	s.done = true
	_ = s.listener.Close()
	for _, c := range s.conns {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.wg.Wait()
}

// Said returns the statements that ran or were refused so far, in order.
func (s *Server) Said() []Line {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.said)
}

// Forget clears Said and restarts Nth at 1.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said, s.times = nil, map[string]int{}
}

func (s *Server) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		if s.done {
			s.mu.Unlock()
			_ = c.Close()
			return
		}
		s.last++
		number := s.last
		s.conns[number] = c
		s.mu.Unlock()
		s.wg.Go(func() {
			defer s.forget(number)
			_ = s.serve(number, c) // a client that disconnects is no error
		})
	}
}

func (s *Server) forget(number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.conns[number].Close()
	delete(s.conns, number)
}

// errCut ends a session without a message.
var errCut = errors.New("cut")

func (s *Server) serve(number int, c net.Conn) error {
	backend := pgproto3.NewBackend(c, c)
	settings, err := greet(backend, c)
	if err != nil {
		return err
	}
	return newSession(s, number, backend, settings).talk()
}

// greet declines encryption, accepts every client without authentication, and sends the parameters that a driver needs. It returns the client's settings.
func greet(b *pgproto3.Backend, c net.Conn) (settings map[string]string, err error) {
	for {
		m, err := b.ReceiveStartupMessage()
		if err != nil {
			return nil, err
		}
		switch m := m.(type) {
		case *pgproto3.SSLRequest, *pgproto3.GSSEncRequest:
			if _, err := c.Write([]byte{'N'}); err != nil {
				return nil, err
			}
		case *pgproto3.StartupMessage:
			b.Send(&pgproto3.AuthenticationOk{})
			for _, p := range [][2]string{{"server_version", "13.0.0"}, {"crdb_version", Version}, {"client_encoding", "UTF8"}, {"standard_conforming_strings", "on"}} {
				b.Send(&pgproto3.ParameterStatus{Name: p[0], Value: p[1]})
			}
			b.Send(&pgproto3.BackendKeyData{ProcessID: 1, SecretKey: []byte{0, 0, 0, 1}})
			b.Send(&pgproto3.ReadyForQuery{TxStatus: none.indicator()})
			return m.Parameters, b.Flush()
		default: // a request to cancel; every statement here is too short for it
			return nil, errCut
		}
	}
}

// Version is the result of version(), unless the script returns another one.
const Version = "CockroachDB CCL v25.4.1 (x86_64-pc-linux-gnu, built 2026/01/12 18:55:21, go1.25.5)"

var comment = regexp.MustCompile(`(?m)--.*$`)

// normalize returns a statement without comments and with one space between words.
func normalize(sql string) string {
	return strings.TrimRight(strings.Join(strings.Fields(comment.ReplaceAllString(sql, "")), " "), "; ")
}

// note records a statement and returns the script's reply. If sqlState is not empty, the reply is an error with this SQLSTATE.
func (s *Server) note(statement Statement, sqlState string) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	if statement.SQL == askClock && sqlState == "" {
		return Reply{Rows: [][]any{{time.Now()}}}
	}
	if statement.SQL == askCompatible && sqlState == "" {
		return Reply{}
	}
	s.said = append(s.said, Line{statement.Conn, statement.SQL})
	s.times[statement.SQL]++
	statement.Nth = s.times[statement.SQL]
	if sqlState != "" {
		return Reply{Code: sqlState}
	}
	if s.script.Answer != nil {
		if r := s.script.Answer(statement); !r.empty() {
			return r
		}
	}
	if statement.SQL == askVersion {
		return Reply{Rows: [][]any{{Version}}}
	}
	return Reply{}
}

func (r Reply) empty() bool {
	return r.Code == "" && !r.Cut && r.Rows == nil && r.Columns == nil && r.Tag == ""
}
