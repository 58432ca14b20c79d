//go:build unix

package devdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// tryLock takes an exclusive flock without waiting and reports whether it did.
func tryLock(f *os.File) (bool, error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		default:
			return false, fmt.Errorf("locking %s: %w", f.Name(), err)
		}
	}
}

// unlock undoes tryLock for every copy of the descriptor. It is not for
// engine.lock, which is the database's as well.
func unlock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

// claimServer takes server.lock or says who has it.
func (h *home) claimServer() error {
	f, err := h.root.OpenFile(serverLockName, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	ok, err := tryLock(f)
	if err != nil {
		f.Close()
		return err
	}
	if !ok {
		f.Close()
		return h.inUse()
	}
	h.server = f
	return h.sign("")
}

// sign writes who holds the server lock into it, and the DSN once there is one. It is
// for readers who found the lock held; that its holder lives is told by the lock itself.
func (h *home) sign(dsn string) error {
	if err := h.server.Truncate(0); err != nil {
		return err
	}
	_, err := fmt.Fprintf(io.NewOffsetWriter(h.server, 0), "%d\n%s\n", os.Getpid(), dsn)
	return err
}

// inUse reads what sign wrote.
func (h *home) inUse() *InUseError {
	e := &InUseError{Dir: h.dir}
	text, err := h.root.ReadFile(serverLockName)
	if err != nil {
		return e
	}
	pid, rest, _ := strings.Cut(string(text), "\n")
	e.PID, _ = strconv.Atoi(pid)
	e.DSN = strings.TrimSpace(rest)
	return e
}

// claimEngine takes engine.lock, stopping a database that outlived its server.
func (h *home) claimEngine(ctx context.Context, log *slog.Logger) error {
	f, err := h.root.OpenFile(engineLockName, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	h.engine = f
	ok, err := tryLock(f)
	if ok || err != nil {
		return err
	}
	for _, step := range ladder(syscall.SIGINT) {
		pid, err := signalOrphan(f, step.signal)
		if err != nil {
			return fmt.Errorf("a database process (%d) of an earlier run still exists, and the server cannot stop it: %w", pid, err)
		}
		if pid != 0 { // 0: its last processes are ending by themselves
			log.WarnContext(ctx, "stopping a database of an earlier run", "dir", h.dir, "pid", pid, "signal", step.signal.String())
		}
		waiting, cancel := context.WithTimeout(ctx, step.grace)
		err = poll(waiting, func() (bool, error) { return tryLock(f) })
		cancel()
		if err == nil {
			return nil
		}
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return fmt.Errorf("waiting for a database of an earlier run to end: %w", err)
		}
	}
	return fmt.Errorf("a database process of an earlier run holds %s and does not end: stop it by hand", f.Name())
}

// handOver leaves engine.lock to the database, which has inherited it.
func (h *home) handOver() {
	if h.engine != nil {
		h.engine.Close()
		h.engine = nil
	}
}

// settle waits until nothing of a database that was stopped or killed is left:
// what PostgreSQL forked may outlive it by some milliseconds.
func (h *home) settle() error {
	h.handOver()
	f, err := h.root.OpenFile(engineLockName, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	ctx, cancel := context.WithTimeout(context.Background(), settleLimit)
	defer cancel()
	if err := poll(ctx, func() (bool, error) { return tryLock(f) }); err != nil {
		return fmt.Errorf("processes of the database still exist after %s: %w", settleLimit, err)
	}
	return nil
}

const settleLimit = 15 * time.Second
