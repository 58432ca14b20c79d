package app

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"
)

// lookAgain is how often files are looked at, at most, to see whether they have changed.
const lookAgain = 10 * time.Second

// watched is something that is made of files, and is made again when they have changed, so that a renewal needs no new start.
// While they hold nothing that can be used, such as half of a renewal, the last good one is used.
type watched[T any] struct {
	what  string // for the log
	files []string
	load  func() (T, error)
	log   *slog.Logger
	clock func() time.Time

	mu     sync.Mutex
	loaded T
	stamps []stamp // nil: nothing was loaded yet
	looked time.Time
	became renewals
}

// renewals is what became of files that have changed since the start.
type renewals struct {
	taken   int64
	failed  int64 // tries: one for each look, as long as they cannot be used
	waiting bool  // what the files hold now cannot be used, and what they held before is
}

// stamp tells one version of a file from another.
type stamp struct {
	changed time.Time
	size    int64
}

// watch loads the files for the first time.
func watch[T any](what string, files []string, load func() (T, error), log *slog.Logger, clock func() time.Time) (*watched[T], error) {
	w := &watched[T]{what: what, files: files, load: load, log: log, clock: clock, looked: clock()}
	err := w.read()
	return w, err
}

// get is what the files hold, or held when they were looked at last.
func (w *watched[T]) get(ctx context.Context) T {
	held, _ := w.look(ctx)
	return held
}

// look is get, with what became of renewals.
func (w *watched[T]) look(ctx context.Context) (T, renewals) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := w.clock(); now.Sub(w.looked) >= lookAgain {
		w.looked = now
		before := w.stamps
		err := w.read()
		w.became.waiting = err != nil
		switch {
		case err != nil:
			w.became.failed++
			w.log.WarnContext(ctx, "what was renewed cannot be used; going on with the last that could", "what", w.what, "error", err)
		case !slices.Equal(before, w.stamps):
			w.became.taken++
			w.log.InfoContext(ctx, "renewed", "what", w.what)
		}
	}
	return w.loaded, w.became
}

// read loads the files if they have changed since they were loaded last.
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
