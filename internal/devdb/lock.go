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

// tryLock takes an exclusive flock without waiting, and reports whether it succeeded.
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

// unlock releases the lock that tryLock has taken, for all copies of the descriptor. Do not use it for engine.lock, because the database has a copy
// and needs the lock.
func unlock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

// claimServer takes server.lock, or returns an InUseError.
func (h *directory) claimServer() error {
	f, err := h.openLock(serverLockName)
	if err != nil {
		return err
	}
	ok, err := tryLock(f)
	if ok {
		h.server = f
		return h.sign("")
	}
	f.Close()
	if err != nil {
		return err
	}
	return h.inUse()
}

func (h *directory) openLock(name string) (*os.File, error) {
	return h.root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
}

// sign writes this process's id, and the DSN if there is one yet, into server.lock. Readers use them only while the lock is held, which proves that
// the holder is alive.
func (h *directory) sign(dsn string) error {
	if err := h.server.Truncate(0); err != nil {
		return err
	}
	_, err := fmt.Fprintf(io.NewOffsetWriter(h.server, 0), "%d\n%s\n", os.Getpid(), dsn)
	return err
}

// inUse reads the data that sign has written, and returns it as an error.
func (h *directory) inUse() *InUseError {
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

// claimEngine takes engine.lock. It stops a database that has outlived its server.
func (h *directory) claimEngine(ctx context.Context, log *slog.Logger) error {
	f, err := h.openLock(engineLockName)
	if err != nil {
		return err
	}
	h.engine = f
	ok, err := tryLock(f)
	if ok || err != nil {
		return err
	}
	for _, step := range stopSteps(syscall.SIGINT) {
		pid, err := signalOrphan(f, step.signal)
		if err != nil {
			return fmt.Errorf("a database process (%d) of an earlier run still exists, and the server cannot stop it: %w", pid, err)
		}
		if pid != 0 { // 0: the last processes are ending by themselves
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

// handOver closes this process's engine.lock. The database has inherited the lock and still holds it.
func (h *directory) handOver() {
	if h.engine != nil {
		h.engine.Close()
		h.engine = nil
	}
}

// settle waits until a stopped or killed database has no process left. PostgreSQL's child processes may live some milliseconds longer than their
// parent.
func (h *directory) settle() error {
	h.handOver()
	f, err := h.openLock(engineLockName)
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
