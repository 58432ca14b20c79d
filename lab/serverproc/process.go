package serverproc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Process is a program that was started here, in a process group of its own: Ctrl-C at a terminal is for who started it, which then stops
// it in order. On Linux the kernel kills it when the process that started it dies, so that no crash leaves one behind.
type Process struct {
	cmd   *exec.Cmd
	limit time.Duration
	log   *output       // nil when its log is not kept here
	ended chan struct{} // closed when it has ended; then err is set
	err   error
}

// Spawn starts a program. It has as long as limit to end when it is asked to.
func Spawn(cmd *exec.Cmd, limit time.Duration) (*Process, error) {
	p := &Process{cmd: cmd, limit: limit, ended: make(chan struct{})}
	if err := p.spawn(func() error { return nil }); err != nil {
		return nil, err
	}
	return p, nil
}

// spawn starts the program, and has something done when it has ended.
//
// The kernel's signal at the parent's death belongs to the thread that forked, so that thread must live as long as the child: the goroutine is
// locked to it, and waits.
func (p *Process) spawn(after func() error) error {
	if p.cmd.SysProcAttr == nil {
		p.cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	p.cmd.SysProcAttr.Setpgid = true
	dieWithParent(p.cmd.SysProcAttr)
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		err = p.cmd.Wait()
		if _, failed := errors.AsType[*exec.ExitError](err); failed {
			err = &ExitError{State: p.cmd.ProcessState, Log: p.log.String()}
		}
		p.err = errors.Join(err, after())
		close(p.ended)
	}()
	return <-started
}

// Pid is its process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Ended is closed when it has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Wait returns when it has ended; the error says how, unless it ended with success. Several may wait.
func (p *Process) Wait() error {
	<-p.ended
	return p.err
}

// Signal sends it a signal. That it has ended already is no error.
func (p *Process) Signal(s os.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// ErrKilled is how a program ended that was asked to and did not.
var ErrKilled = errors.New("it did not end when it was asked to, and was killed")

// Stop asks it to end, as an operator does, and waits until it has. One that does not within its limit is killed: ErrKilled. Not to end with
// success is an error too.
func (p *Process) Stop() error {
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	late := time.NewTimer(p.limit)
	defer late.Stop()
	select {
	case <-p.ended:
		return p.err
	case <-late.C:
		p.Kill()
		return errors.Join(fmt.Errorf("%w, after %s", ErrKilled, p.limit), p.err)
	}
}

// Kill is kill -9. It returns when the process is gone.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended already
	<-p.ended
}

// ExitError is how a program ended that did not end with success.
type ExitError struct {
	State *os.ProcessState
	Log   string // what it logged, where that is known
}

func (e *ExitError) Error() string {
	if e.Log == "" {
		return e.State.String()
	}
	return e.State.String() + "; its log ends:\n" + end(e.Log)
}
