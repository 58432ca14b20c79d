package chaos

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// process is a running server.
type process struct {
	cmd  *exec.Cmd
	addr string
	done chan struct{} // closed when it has ended
}

// startProcess runs the server and returns when it listens. What it logs is added to a file.
func startProcess(ctx context.Context, binary, logFile string, environ []string, flags ...string) (*process, error) {
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	args := append([]string{
		"--listen=127.0.0.1:0", "--auth=dev", "--log-level=warn", "--rate-limit-reads=0", "--rate-limit-writes=0",
	}, flags...)
	p := &process{cmd: exec.Command(binary, args...), done: make(chan struct{})} //nolint:gosec,noctx // the program under test, which is killed by name
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "GOMAXPROCS=2"}, environ...)
	p.cmd.Stderr = log
	// A harness that dies must not leave servers behind; Setpgid keeps the terminal's Ctrl-C from them.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	listening := make(chan string, 1)
	go func() {
		defer close(p.done)
		lines := bufio.NewReader(stdout)
		first, _ := lines.ReadString('\n')
		listening <- strings.TrimSpace(strings.TrimPrefix(first, "listening on "))
		_, _ = io.Copy(io.Discard, lines)
		_ = p.cmd.Wait() // how it ended is in its log
	}()
	select {
	case p.addr = <-listening:
	case <-ctx.Done():
		p.kill()
		return nil, ctx.Err()
	}
	if p.addr == "" {
		<-p.done
		return nil, fmt.Errorf("the server did not start; %s says why", logFile)
	}
	return p, nil
}

// kill is kill -9; it returns when the process is gone.
func (p *process) kill() {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return
	}
	<-p.done
}
