package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Time limits.
const (
	commandLimit = 90 * time.Second
	startLimit   = 10 * time.Minute // includes a first build
	stopLimit    = 40 * time.Second
)

// preamble defines make in a page's shells. make must run in the checkout, which is another folder. It runs without the address of the page's server,
// because a reader has not set these variables.
const preamble = `make() { env -u CARVE_SERVER -u CARVE_LISTEN make --no-print-directory -C "$DOCS_ROOT" "$@"; }` + "\n"

// shell is one bash for all commands of a page, so that variables survive from one command to the next.
type shell struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startShell(ctx context.Context, p *place) (*shell, error) {
	cmd := exec.CommandContext(ctx, "bash", "--noprofile", "--norc")
	cmd.Dir, cmd.Env = p.dir, p.environ
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // and its child processes
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = write, write
	err = cmd.Start()
	_ = write.Close()
	if err != nil {
		_ = read.Close()
		return nil, err
	}
	s := &shell{cmd: cmd, in: in, out: bufio.NewReader(read)}
	_, err = io.WriteString(in, preamble)
	return s, err
}

// run runs a command and returns its output on both streams, and its exit code.
func (s *shell) run(text string, limit time.Duration) (output string, code int, err error) {
	late := time.AfterFunc(limit, s.kill)
	defer late.Stop()
	_, err = fmt.Fprintf(s.in, "eval %s </dev/null\nprintf '\\0%%d\\n' $?\n", quote(text))
	if err == nil {
		output, err = s.out.ReadString(0)
		output = strings.TrimSuffix(output, "\x00")
	}
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.EPIPE) {
		err = fmt.Errorf("the shell ended, or the command took more than %s", limit)
	}
	if err != nil {
		return output, 0, err
	}
	end, err := s.out.ReadString('\n')
	if err != nil {
		return output, 0, err
	}
	code, err = strconv.Atoi(strings.TrimSpace(end))
	return output, code, err
}

// close ends the shell and its background processes.
func (s *shell) close() {
	_ = s.in.Close()
	s.kill()
	_ = s.cmd.Wait() // the error only reports that it was killed
}

// kill kills the shell's process group.
func (s *shell) kill() { _ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) }

// quote quotes a text as one word for a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
