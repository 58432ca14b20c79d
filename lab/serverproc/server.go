package serverproc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"time"
)

// Options say which server is started, and how.
type Options struct {
	Program string
	Args    []string            // its flags; it listens on a free port of loopback unless they say otherwise
	Env     []string            // nil: that of this process
	Dir     string              // where it runs; "": where this process does
	User    *syscall.Credential // who it runs as; nil: who runs this process
	Data    string              // a directory for a database that is not kept: emptied before, and removed when it has ended; "": Args say where the data is
	Log     *os.File            // where its log goes; nil: it is kept in memory, for Server.Log
	Limit   time.Duration       // that Stop gives it to end; 0: a minute
}

// Server is a running server of Carve.
type Server struct {
	*Process
	addr string
	said *output // on its standard output
}

// The bounds of starting, and of stopping when nobody says another.
const (
	startLimit = 2 * time.Minute
	stopLimit  = time.Minute
)

// What a server tells scripts, on lines of their own.
var (
	listening = regexp.MustCompile(`(?m)^listening on (\S+)\n`)
	adminKey  = regexp.MustCompile(`(?m)^  admin key +(\S+)\n`)
)

var errEnded = errors.New("it ended, with success")

// Start starts a server and returns when it listens; ctx bounds that alone. One that ends before is an *ExitError with the end of its log.
func Start(ctx context.Context, o Options) (*Server, error) {
	args, after := []string{"--listen=127.0.0.1:0"}, func() error { return nil }
	if o.Data != "" {
		after = func() error { return os.RemoveAll(o.Data) }
		if err := after(); err != nil { // what a killed run left
			return nil, err
		}
		args = append(args, "--data-dir="+o.Data)
	}
	if o.Limit == 0 {
		o.Limit = stopLimit
	}
	s := &Server{said: newOutput()}
	s.Process = &Process{cmd: exec.Command(o.Program, append(args, o.Args...)...), limit: o.Limit, ended: make(chan struct{})} //nolint:gosec,noctx // the caller's program, ended by Stop or Kill
	s.cmd.Env, s.cmd.Dir, s.cmd.Stdout, s.cmd.Stderr = o.Env, o.Dir, s.said, o.Log
	if o.Log == nil {
		s.log = newOutput()
		s.cmd.Stderr = s.log
	}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: o.User}
	if err := s.spawn(after); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("it does not listen after %s", startLimit))
	defer cancel()
	var err error
	if s.addr, err = s.await(ctx, listening); err == nil {
		return s, nil
	}
	if ctx.Err() != nil {
		err = errors.Join(err, s.Stop())
	}
	if e, ended := errors.AsType[*ExitError](err); ended && o.Log != nil {
		e.Log = written(o.Log)
	}
	return nil, fmt.Errorf("the server did not start: %w", err)
}

// Addr is where it listens: host:port.
func (s *Server) Addr() string { return s.addr }

// AdminKey is the first key, which a server with --auth=keys shows when it has made its database. It waits until it does.
func (s *Server) AdminKey(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("it shows no key after %s", startLimit))
	defer cancel()
	return s.await(ctx, adminKey)
}

// Said is what it has said on its standard output.
func (s *Server) Said() string { return s.said.String() }

// Log is what it has logged, unless that went elsewhere.
func (s *Server) Log() string { return s.log.String() }

// await returns what the server says of something.
func (s *Server) await(ctx context.Context, what *regexp.Regexp) (string, error) {
	for ended := false; ; {
		text, more := s.said.now()
		if m := what.FindStringSubmatch(text); m != nil {
			return m[1], nil
		}
		if ended {
			return "", cmp.Or(s.err, errEnded)
		}
		select {
		case <-more:
		case <-s.ended: // what it said last is looked at yet
			ended = true
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}
