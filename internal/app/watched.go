package app

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"
)

// checkInterval is the minimum interval between two checks of the files.
const checkInterval = 10 * time.Second

// watched is a value that is loaded from files. It is loaded again when the files change, so that a renewal needs no restart. During a renewal, the
// files may be invalid for some time. watched then keeps the last valid value.
type watched[T any] struct {
	what  string // for the log
	files []string
	load  func() (T, error)
	log   *slog.Logger
	clock func() time.Time

	mu     sync.Mutex
	loaded T
	stamps []stamp // nil: not loaded yet
	looked time.Time
	became renewals
}

// renewals counts the changes of the files since the start.
type renewals struct {
	taken   int64
	failed  int64 // failed attempts: one for each check while the files are invalid
	waiting bool  // the files are invalid and the previous value is still in use
}

// stamp identifies a file's version.
type stamp struct {
	changed time.Time
	size    int64
}

// watch loads the files for the first time. It returns an error if they are invalid.
func watch[T any](what string, files []string, load func() (T, error), log *slog.Logger, clock func() time.Time) (*watched[T], error) {
	w := &watched[T]{what: what, files: files, load: load, log: log, clock: clock, looked: clock()}
	err := w.read()
	return w, err
}

// get returns the current value. It first checks the files, at most once in checkInterval.
func (w *watched[T]) get(ctx context.Context) T {
	held, _ := w.look(ctx)
	return held
}

// look does the same as get, and also returns the renewals' results.
func (w *watched[T]) look(ctx context.Context) (T, renewals) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := w.clock(); now.Sub(w.looked) >= checkInterval {
		w.looked = now
		before := w.stamps
		err := w.read()
		w.became.waiting = err != nil
		switch {
		case err != nil:
			w.became.failed++
			w.log.WarnContext(ctx, "cannot use the renewed files; continuing with the previous ones", "what", w.what, "error", err)
		case !slices.Equal(before, w.stamps):
			w.became.taken++
			w.log.InfoContext(ctx, "renewed", "what", w.what)
		}
	}
	return w.loaded, w.became
}

// read loads the files if they have changed since the last load.
func (w *watched[T]) read() error {
	stamps := make([]stamp, len(w.files))
	for i, name := range w.files {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		stamps[i] = stamp{info.ModTime(), info.Size()}
	}
	if slices.Equal(stamps, w.stamps) {
		return nil
	}
	loaded, err := w.load()
	if err != nil {
		return err
	}
	w.loaded, w.stamps = loaded, stamps
	return nil
}
