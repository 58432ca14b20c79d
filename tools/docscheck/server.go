package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// server is a server that a page starts, with its output.
type server struct {
	cmd   *exec.Cmd
	log   string
	lines chan string
	heard []string
}

// startServer starts a command that keeps running, and waits for the line with its address.
func startServer(ctx context.Context, p *place, text string, number int) (*server, error) {
	s := &server{log: filepath.Join(p.dir, fmt.Sprintf("server-%d.log", number)), lines: make(chan string)}
	log, err := os.Create(s.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s.cmd = exec.CommandContext(ctx, "bash", "--noprofile", "--norc", "-c", preamble+replaceMake(text)) //nolint:gosec // running what the pages of this checkout say is the purpose
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(syscall.SIGTERM) }
	s.cmd.WaitDelay = stopLimit
	s.cmd.Dir, s.cmd.Env, s.cmd.Stderr = p.dir, p.environ, log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(s.lines)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			s.lines <- lines.Text()
		}
	}()
	if !s.hear(startLimit, func() bool { return strings.HasPrefix(s.heard[len(s.heard)-1], "listening on ") }) {
		said := s.tail()
		s.stop()
		return nil, fmt.Errorf("the server did not start:\n%s", said)
	}
	return s, nil
}

// replaceMake adds exec to a command. The command then replaces the shell, so that a signal reaches the command itself. It also lets make run in the
// checkout.
func replaceMake(text string) string {
	if rest, ok := strings.CutPrefix(text, "make "); ok {
		return `exec make --no-print-directory -C "$DOCS_ROOT" ` + rest
	}
	return "exec " + text
}

// hear reads the server's output until enough returns true.
func (s *server) hear(limit time.Duration, enough func() bool) bool {
	late := time.NewTimer(limit)
	defer late.Stop()
	for {
		select {
		case line, more := <-s.lines:
			if !more {
				return false
			}
			s.heard = append(s.heard, line)
			if enough() {
				return true
			}
		case <-late.C:
			return false
		}
	}
}

// tail returns the end of the server's output and log.
func (s *server) tail() string {
	raw, _ := os.ReadFile(s.log) // a missing log adds nothing
	lines := append(append([]string{}, s.heard...), strings.Split(strings.TrimSpace(string(raw)), "\n")...)
	return strings.Join(lines[max(0, len(lines)-12):], "\n")
}

// stop stops the server as its user would, and waits until its database is closed.
func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	late := time.AfterFunc(stopLimit, func() { _ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) })
	defer late.Stop()
	for range s.lines { // until its output is closed
		continue
	}
	_ = s.cmd.Wait() // an error is expected, because the signal ended the server
}
