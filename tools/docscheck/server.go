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

// server is one that a page starts, with what it has said.
type server struct {
	cmd   *exec.Cmd
	log   string
	lines chan string
	heard []string
}

// startServer carries out a command that goes on running, and waits until it says where it listens.
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

// replaceMake puts the command itself in the place of the shell, so that a signal reaches it and nothing else.
func replaceMake(text string) string {
	if rest, ok := strings.CutPrefix(text, "make "); ok {
		return `exec make --no-print-directory -C "$DOCS_ROOT" ` + rest
	}
	return "exec " + text
}

// hear reads what the server says until enough was said.
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

// tail is the end of what the server has said and logged.
func (s *server) tail() string {
	raw, _ := os.ReadFile(s.log) // without a log there is nothing to show
	lines := append(append([]string{}, s.heard...), strings.Split(strings.TrimSpace(string(raw)), "\n")...)
	return strings.Join(lines[max(0, len(lines)-12):], "\n")
}

// stop ends the server as its user would, and waits for its database to be closed.
func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	late := time.AfterFunc(stopLimit, func() { _ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) })
	defer late.Stop()
	for range s.lines { // until its output is closed
		continue
	}
	_ = s.cmd.Wait() // it was told to end
}
