package usecase

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Settled runs a transaction whose outcome can be read back. After an unknown outcome readBack looks, in a new
// transaction, for what this very request would have written (by its prepared id or revision): found is success;
// otherwise the transaction runs again. Running again is safe: the late landing of the first COMMIT and the second
// run would collide on a unique key or a revision, and whoever loses reads back. What was found, by a read or by a transaction that had nothing to
// write, is answered when it is durable.
func Settled[T any](ctx context.Context, s *Core, op string, locks storage.Locks, dryRun bool,
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
		case storage.RetryLater(err): // "nothing was changed" cannot be said any more
			return zero, false, storage.OutcomeUnknown(err)
		}
		// Either unknown now, or refused after an unknown round: the refusal may be our own first success.
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

// writing is a transaction that knows whether it has written.
type writing struct {
	storage.Tx
	wrote bool
}

// Write implements Tx.
func (w *writing) Write(ctx context.Context, ch storage.Changes) error {
	w.wrote = true
	return w.Tx.Write(ctx, ch)
}

// Durably is Store.Durably. When look has found what is to be answered, and it cannot be said in time that this is durable, the outcome is not known.
func (s *Core) Durably(ctx context.Context, look storage.Look) error {
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
		"The database has not confirmed yet what an earlier request did. Repeat the same request with the same Idempotency-Key or name; it will be made once.").Because(err)
	e.RetryAfter = time.Second
	return e
}

// Exists refuses a name that is taken, when it is durable that it is: who repeats a request by name without a key learns by that that it was done. When it is not taken any
// more the use case begins anew.
func (s *Core) Exists(ctx context.Context, refusal error, look func(context.Context) error) error {
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

// readBackWithin reads back within its own time: the request's is often up just when the outcome is unknown. What is found is durable.
func readBackWithin[T any](ctx context.Context, s *Core, readBack func(context.Context) (T, bool, error)) (v T, found bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ReadBackLimit)
	defer cancel()
	err = s.Durably(ctx, func(ctx context.Context) (_ bool, err error) {
		v, found, err = readBack(ctx)
		return found, err
	})
	return v, found, err
}
