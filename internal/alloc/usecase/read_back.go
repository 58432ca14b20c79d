package usecase

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// RunWithReadBack runs a transaction with an outcome that can be read back. After an indeterminate commit, readBack searches in a new transaction for the
// rows that this request would have written, by their prepared id or revision. If it finds them, RunWithReadBack succeeds; if not, it runs the transaction
// again. The second run is safe: a late first COMMIT and the second run collide on a unique key or a revision, and the loser reads back. A result
// that comes from a read, or from a transaction without writes, is returned only when the data is durable.
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
		case storage.RetryLater(err): // the error "nothing was changed" may now be false
			return zero, false, storage.OutcomeUnknown(err)
		}
		// The outcome is unknown, or this refusal follows an unknown outcome: our own first COMMIT may be its cause.
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

// writing is a transaction that records whether it has written.
type writing struct {
	storage.Tx
	wrote bool
}

// Write implements Tx.
func (w *writing) Write(ctx context.Context, ch storage.Changes) error {
	w.wrote = true
	return w.Tx.Write(ctx, ch)
}

// Durably is Store.Durably. It returns outcome_unknown if look has found a result that cannot be confirmed as durable in time.
func (s *Core) Durably(ctx context.Context, look storage.ReadBack) error {
	found := false
	err := s.Store.Durably(ctx, func(ctx context.Context) (bool, error) {
		answers, err := look(ctx)
		found = found || answers
		return answers, err
	})
	if err == nil || !found {
		return err
	}
	e := ipam.Errorf(ipam.CodeOutcomeUnknown,
		"The database has not confirmed the outcome of an earlier request yet. Repeat the same request with the same Idempotency-Key or name; it takes effect only once.").Because(err)
	e.RetryAfter = time.Second
	return e
}

// RefuseTakenName refuses a taken name when it is durable that the name is taken. A client that repeats a request by name without a key learns from this
// refusal that the first request succeeded. RefuseTakenName returns a conflict if the name is free by now, so that the use case starts again.
func (s *Core) RefuseTakenName(ctx context.Context, refusal error, look func(context.Context) error) error {
	found := false
	err := s.Durably(ctx, func(ctx context.Context) (bool, error) {
		_, there, err := storage.IgnoreNotFound(struct{}{}, look(ctx))
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

// readBackWithin reads back with a time limit of its own, because the request's deadline is often near after an indeterminate commit. A result that
// it finds is durable.
func readBackWithin[T any](ctx context.Context, s *Core, readBack func(context.Context) (T, bool, error)) (v T, found bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ReadBackLimit)
	defer cancel()
	err = s.Durably(ctx, func(ctx context.Context) (_ bool, err error) {
		v, found, err = readBack(ctx)
		return found, err
	})
	return v, found, err
}
