package usecase

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// RunWithReadBack runs a transaction that can find out later whether it was committed. If a COMMIT has an unknown result, readBack searches for this
// request's rows in a new transaction. It finds them by their prepared id or revision. If readBack finds the rows, RunWithReadBack succeeds.
// Otherwise it runs the transaction again.
//
// The second run is safe. If the first COMMIT takes effect late, one run violates a unique key or meets a changed revision. That run then reads back
// the other run's rows.
//
// If the result comes from a read, or from a transaction without writes, RunWithReadBack returns it only after the data is durable.
func RunWithReadBack[T any](ctx context.Context, s *Core, op string, locks storage.Locks, dryRun bool,
	fn func(context.Context, storage.Tx) (T, error), readBack func(context.Context) (T, bool, error),
) (T, error) {
	unsure := false
	return Rounds(func(int) (v T, again bool, err error) {
		var zero T
		v, err = InTx(ctx, s, op, locks, dryRun, func(ctx context.Context, tx storage.Tx) (T, error) {
			w := &writing{Tx: tx}
			v, err := fn(ctx, w)
			if err == nil && !w.wrote {
				err = tx.Confirm(ctx)
			}
			return v, err
		})
		switch {
		case err == nil:
			return v, false, nil
		case ipam.IsCode(err, ipam.CodeOutcomeUnknown):
			unsure = true
		case !unsure:
			return zero, false, err
		case storage.RetryLater(err): // the error means that nothing was changed, and this may now be false
			return zero, false, storage.OutcomeUnknown(err)
		}
		// Either this attempt's result is unknown, or an earlier attempt's result was unknown and this one was refused. The earlier COMMIT may
		// have caused the refusal.
		back, found, readErr := readBackWithin(ctx, s, readBack)
		switch {
		case readErr != nil:
			return zero, false, storage.OutcomeUnknown(readErr)
		case found:
			return back, false, nil
		case !ipam.IsCode(err, ipam.CodeOutcomeUnknown):
			return zero, false, err
		default:
			return zero, true, storage.OutcomeUnknown(nil)
		}
	})
}

// writing is a transaction that records whether it has written anything.
type writing struct {
	storage.Tx
	wrote bool
}

// Write implements Tx.
func (w *writing) Write(ctx context.Context, ch storage.Changes) error {
	w.wrote = true
	return w.Tx.Write(ctx, ch)
}

// Durably calls Store.Durably, and replaces one error. It returns outcome_unknown if readBack has found a result that cannot be confirmed as durable
// in time.
func (s *Core) Durably(ctx context.Context, readBack storage.ReadBack) error {
	found := false
	err := s.Store.Durably(ctx, func(ctx context.Context) (bool, error) {
		returned, err := readBack(ctx)
		found = found || returned
		return returned, err
	})
	if err == nil || !found {
		return err
	}
	e := ipam.Errorf(ipam.CodeOutcomeUnknown,
		"The database has not confirmed the outcome of an earlier request yet. Repeat the same request with the same Idempotency-Key or name; it takes effect only once.").WithCause(err)
	e.RetryAfter = time.Second
	return e
}

// RefuseTakenName returns the refusal for a taken name after it is durable that the name is taken. A client may repeat a request by name without a
// key. From this refusal, it learns that its first request succeeded. If the name is free by now, RefuseTakenName returns a conflict, so that the use
// case starts again.
func (s *Core) RefuseTakenName(ctx context.Context, refusal error, read func(context.Context) error) error {
	found := false
	err := s.Durably(ctx, func(ctx context.Context) (bool, error) {
		_, there, err := storage.IgnoreNotFound(struct{}{}, read(ctx))
		found = there
		return there, err
	})
	switch {
	case err != nil:
		return err
	case !found:
		return &storage.Conflict{}
	default:
		return refusal
	}
}

// readBackWithin calls readBack with its own time limit. After a COMMIT with an unknown result, the request's deadline is often near. If
// readBackWithin finds a result, that result is durable.
func readBackWithin[T any](ctx context.Context, s *Core, readBack func(context.Context) (T, bool, error)) (v T, found bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ReadBackLimit)
	defer cancel()
	err = s.Durably(ctx, func(ctx context.Context) (_ bool, err error) {
		v, found, err = readBack(ctx)
		return found, err
	})
	return v, found, err
}
