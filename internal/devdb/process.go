//go:build unix

package devdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// inheritedLockFD is engine.lock's descriptor in a child: the first in exec.Cmd.ExtraFiles.
const inheritedLockFD = 3

// parentDeathSignal is a variable, so that a test can create a real orphan.
var parentDeathSignal = true

// process is a child that this package starts and waits for.
type process struct {
	cmd     *exec.Cmd
	gentle  syscall.Signal // requests a proper shutdown
	onDeath syscall.Signal // the kernel sends this signal to the child when this process dies

	log     *os.File // output; nil: none; closed when the process has ended
	logFrom int64    // the log's size before the start

	exited chan struct{} // closed when the process has ended; only then err and report are valid
	err    error         // Wait's result
	report error         // err with the last log lines
}

// spawn starts a process that holds engine.lock. The process gets its own process group.
//
// A Ctrl-C at a terminal signals the whole foreground group. If the database were in that group, it would stop while the server still finishes
// requests.
//
// The kernel sends the parent death signal when the *thread* that started the child ends. So that thread must live as long as the child. The
// goroutine that starts the child is locked to its thread and stays in Wait until the child has ended.
func (h *directory) spawn(p *process) error {
	if len(p.cmd.ExtraFiles) == 0 {
		p.cmd.ExtraFiles = []*os.File{h.engine}
	}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: h.account.credential()}
	tieToParent(p.cmd.SysProcAttr, p.onDeath)

	p.exited = make(chan struct{})
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.err = p.cmd.Wait()
		p.report = p.explain()
		close(p.exited)
	}()
	if err := <-started; err != nil {
		return h.account.explain(err)
	}
	return nil
}

// spawnLogged does the same as spawn for the database, and writes the database's output to a log file.
func (h *directory) spawnLogged(cmd *exec.Cmd, gentle syscall.Signal, logName string) (*process, error) {
	log, err := h.openLog(logName)
	if err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, gentle: gentle, onDeath: gentle, log: log}
	fi, err := log.Stat()
	if err == nil {
		p.logFrom = fi.Size()
		cmd.Stdout, cmd.Stderr = log, log
		err = h.spawn(p)
	}
	if err != nil {
		log.Close()
		return nil, err
	}
	return p, nil
}

// run runs a short program, waits for it and returns its output. If ctx ends, run kills the program.
func (h *directory) run(ctx context.Context, cmd *exec.Cmd) (output string, err error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	p := &process{cmd: cmd, gentle: syscall.SIGKILL, onDeath: syscall.SIGKILL}
	if err := h.spawn(p); err != nil {
		return "", err
	}
	select {
	case <-p.exited:
	case <-ctx.Done():
		err := cmd.Process.Kill()
		if err == nil || errors.Is(err, os.ErrProcessDone) {
			<-p.exited
			err = nil
		}
		return "", errors.Join(ctx.Err(), err)
	}
	return strings.TrimSpace(out.String()), p.err
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// explain returns a process's result with its last log lines. It closes the log.
func (p *process) explain() error {
	if p.log == nil {
		return p.err
	}
	defer p.log.Close()
	how := p.err
	if how == nil {
		how = errors.New("exit status 0")
	}
	if output := strings.TrimSpace(tail(p.log, p.logFrom)); output != "" {
		return fmt.Errorf("process %d: %w; its log ends:\n%s", p.pid(), how, output)
	}
	return fmt.Errorf("process %d: %w; its log is empty", p.pid(), how)
}

// step is one signal that should end a process, and the time that the process then has to end.
type step struct {
	signal syscall.Signal
	grace  time.Duration
}

// stopSteps returns the steps to stop a database. The first signal requests a proper shutdown. The second requests an immediate shutdown. After it,
// PostgreSQL skips the checkpoint, and recovers from its log at the next start. The third is SIGKILL.
func stopSteps(gentle syscall.Signal) []step {
	return []step{{gentle, 30 * time.Second}, {syscall.SIGQUIT, 10 * time.Second}, {syscall.SIGKILL, 10 * time.Second}}
}

// stop ends the process and waits for its end. If ctx ends, only the first wait ends early. The later steps keep their full time.
func (p *process) stop(ctx context.Context, log *slog.Logger) error {
	for i, step := range stopSteps(p.gentle) {
		if p.hasExited() {
			return nil
		}
		if i > 0 {
			log.WarnContext(ctx, "the database has not stopped yet: sending a stronger signal", "pid", p.pid(), "signal", step.signal.String())
		}
		if err := p.cmd.Process.Signal(step.signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("stopping database process %d: %w", p.pid(), err)
		}
		waitCtx := ctx
		if i > 0 {
			waitCtx = context.WithoutCancel(ctx)
		}
		if p.waitFor(waitCtx, step.grace) {
			return nil
		}
	}
	return fmt.Errorf("database process %d does not end, even after SIGKILL", p.pid())
}

// waitFor reports whether the process ends within limit and before ctx ends.
func (p *process) waitFor(ctx context.Context, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	select {
	case <-p.exited:
	case <-ctx.Done():
	}
	return p.hasExited()
}

func (p *process) hasExited() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}
