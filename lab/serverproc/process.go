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

// Process is a program in its own process group. So Ctrl-C at a terminal reaches only this process, which then stops the program cleanly. On Linux
// the kernel kills the program when this process dies, so that a crash does not leave the program running.
type Process struct {
	cmd   *exec.Cmd
	limit time.Duration
	log   *output       // nil if the log goes to a file
	ended chan struct{} // closed when the program has ended; err is set before
	err   error
}

// Spawn starts a program. limit is the time that Stop gives the program to end.
func Spawn(cmd *exec.Cmd, limit time.Duration) (*Process, error) {
	p := &Process{cmd: cmd, limit: limit, ended: make(chan struct{})}
	if err := p.spawn(func() error { return nil }); err != nil {
		return nil, err
	}
	return p, nil
}

// spawn starts the program and calls after when it has ended.
//
// The kernel sends the parent-death signal when the thread that forked the child dies. So that thread must live as long as the child. Therefore the
// goroutine locks itself to the thread and waits for the child.
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

// Pid returns the process id of the program.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Ended returns a channel that closes when the program has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Wait waits until the program has ended. It returns an error unless the program succeeded. Several goroutines may wait.
func (p *Process) Wait() error {
	<-p.ended
	return p.err
}

// Signal sends a signal to the program. It returns no error if the program has already ended.
func (p *Process) Signal(s os.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// ErrKilled reports that a program did not stop in time and was killed.
var ErrKilled = errors.New("it did not end when it was asked to, and was killed")

// Stop sends SIGTERM and waits for the end of the program. After the limit, it kills the program and returns ErrKilled. It also returns an error if
// the program did not succeed.
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

// Kill sends SIGKILL and returns when the program has ended.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // the program may have ended already
	<-p.ended
}

// ExitError reports that a program ended without success.
type ExitError struct {
	State *os.ProcessState
	Log   string // end of the program's log, if it is known
}

func (e *ExitError) Error() string {
	if e.Log == "" {
		return e.State.String()
	}
	return e.State.String() + "; its log ends:\n" + end(e.Log)
}
