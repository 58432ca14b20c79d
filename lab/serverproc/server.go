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

// Options configure a server and its process.
type Options struct {
	Program string
	Args    []string            // flags; without --listen, the server listens on a free loopback port
	Env     []string            // environment; nil means the environment of this process
	Dir     string              // working directory; empty means the directory of this process
	User    *syscall.Credential // user of the process; nil means the user of this process
	Data    string              // directory of a temporary database, emptied before the start and removed after the end; empty: Args set the database
	Log     *os.File            // file for the log; nil means memory, for Server.Log
	Limit   time.Duration       // time that Stop gives the server to end; 0 means a minute
}

// Server is a running Carve server.
type Server struct {
	*Process
	addr   string
	stdout *output // its standard output
}

// Limits for the start and for the stop. Options.Limit replaces stopLimit.
const (
	startLimit = 2 * time.Minute
	stopLimit  = time.Minute
)

// Lines that a server prints on its standard output, for scripts.
var (
	listening = regexp.MustCompile(`(?m)^listening on (\S+)\n`)
	adminKey  = regexp.MustCompile(`(?m)^  admin key +(\S+)\n`)
)

var errEnded = errors.New("it ended, with success")

// Start starts a server and returns when the server listens. ctx limits only the start. If the server ends early, Start returns an *ExitError with
// the end of the log.
func Start(ctx context.Context, o Options) (*Server, error) {
	args, after := []string{"--listen=127.0.0.1:0"}, func() error { return nil }
	if o.Data != "" {
		after = func() error { return os.RemoveAll(o.Data) }
		if err := after(); err != nil { // a killed run may have left files behind
			return nil, err
		}
		args = append(args, "--data-dir="+o.Data)
	}
	if o.Limit == 0 {
		o.Limit = stopLimit
	}
	s := &Server{stdout: newOutput()}
	s.Process = &Process{cmd: exec.Command(o.Program, append(args, o.Args...)...), limit: o.Limit, ended: make(chan struct{})} //nolint:gosec,noctx // the caller's program, ended by Stop or Kill
	s.cmd.Env, s.cmd.Dir, s.cmd.Stdout, s.cmd.Stderr = o.Env, o.Dir, s.stdout, o.Log
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

// Addr returns the server's address as host:port.
func (s *Server) Addr() string { return s.addr }

// AdminKey waits for the server's first API key and returns it. A server with --auth=keys prints this key when it has made its database.
func (s *Server) AdminKey(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("it shows no key after %s", startLimit))
	defer cancel()
	return s.await(ctx, adminKey)
}

// Stdout returns the server's standard output.
func (s *Server) Stdout() string { return s.stdout.String() }

// Log returns the server's log. It returns "" if Options.Log received the log.
func (s *Server) Log() string { return s.log.String() }

// await waits until the standard output matches an expression. It returns the first group of the match.
func (s *Server) await(ctx context.Context, what *regexp.Regexp) (string, error) {
	for ended := false; ; {
		text, more := s.stdout.now()
		if m := what.FindStringSubmatch(text); m != nil {
			return m[1], nil
		}
		if ended {
			return "", cmp.Or(s.err, errEnded)
		}
		select {
		case <-more:
		case <-s.ended: // the next pass reads the last output
			ended = true
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}
