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

// Process is a program in a process group of its own. So Ctrl-C at a terminal only reaches this process, which then stops the program cleanly. On
// Linux the kernel kills the program when this process dies, so that no crash leaves it running.
type Process struct {
	cmd   *exec.Cmd
	limit time.Duration
	log   *output       // nil if its log goes elsewhere
	ended chan struct{} // closed at its end; err is then set
	err   error
}

// Spawn starts a program. Stop gives it limit to end.
func Spawn(cmd *exec.Cmd, limit time.Duration) (*Process, error) {
	p := &Process{cmd: cmd, limit: limit, ended: make(chan struct{})}
	if err := p.spawn(func() error { return nil }); err != nil {
		return nil, err
	}
	return p, nil
}

// spawn starts the program and calls after when it has ended.
//
// The kernel sends the parent-death signal when the thread that forked dies, so that thread must live as long as the child. Therefore the goroutine
// locks itself to the thread, and waits.
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

// Pid returns its process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Ended returns a channel that is closed when it has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Wait waits until it has ended, and returns an error unless it ended with success. Several goroutines may wait.
func (p *Process) Wait() error {
	<-p.ended
	return p.err
}

// Signal sends it a signal. It returns no error if the program has ended already.
func (p *Process) Signal(s os.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// ErrKilled reports that a program did not stop in time and was killed.
var ErrKilled = errors.New("it did not end when it was asked to, and was killed")

// Stop sends SIGTERM and waits for the end. After the limit it kills the program and returns ErrKilled. It also returns an error if the program ended
// without success.
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

// Kill sends SIGKILL and returns when the process is gone.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended already
	<-p.ended
}

// ExitError reports the end of a program without success.
type ExitError struct {
	State *os.ProcessState
	Log   string // its log, where known
}

func (e *ExitError) Error() string {
	if e.Log == "" {
		return e.State.String()
	}
	return e.State.String() + "; its log ends:\n" + end(e.Log)
}
