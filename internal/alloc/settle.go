package alloc

import (
	"context"
	"errors"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// maxRounds bounds how often a use case looks again after an unknown outcome or a conflict. Each round already holds the
// bounded retries of the transaction runner.
const maxRounds = 8

// readBackLimit bounds finding out what became of an unknown COMMIT.
const readBackLimit = 3 * time.Second

// settled runs a transaction whose outcome can be read back. After an unknown outcome readBack looks, in a new
// transaction, for what this very request would have written (by its prepared id or revision): found is success;
// otherwise the transaction runs again. Running again is safe: the late landing of the first COMMIT and the second
// run would collide on a unique key or a revision, and whoever loses reads back. What was found, by a read or by a transaction that had nothing to
// write, is answered when it is durable.
func settled[T any](ctx context.Context, s *Service, op string, locks Locks, dryRun bool,
	fn func(context.Context, Tx) (T, error), readBack func(context.Context) (T, bool, error),
) (T, error) {
	var zero T
	unsure := false
	for range maxRounds {
		v, err := inTx(ctx, s, op, locks, dryRun, func(ctx context.Context, tx Tx) (T, error) {
			w := &writing{Tx: tx}
			v, err := fn(ctx, w)
			if err == nil && !w.wrote {
				err = tx.Confirm(ctx)
			}
			return v, err
		})
		switch {
		case err == nil:
			return v, nil
		case ipam.IsCode(err, ipam.CodeOutcomeUnknown):
			unsure = true
		case !unsure:
			return zero, err
		case retryLater(err): // "nothing was changed" cannot be said any more
			return zero, outcomeUnknown(err)
		}
		// Either unknown now, or refused after an unknown round: the refusal may be our own first success.
		back, found, readErr := readBackWithin(ctx, s, readBack)
		if readErr != nil {
			return zero, outcomeUnknown(readErr)
		}
		if found {
			return back, nil
		}
		if !ipam.IsCode(err, ipam.CodeOutcomeUnknown) {
			return zero, err
		}
	}
	return zero, outcomeUnknown(nil)
}

// writing is a transaction that knows whether it has written.
type writing struct {
	Tx
	wrote bool
}

// Write implements Tx.
func (w *writing) Write(ctx context.Context, ch Changes) error {
	w.wrote = true
	return w.Tx.Write(ctx, ch)
}

// durably is Store.Durably. When look has found what is to be answered, and it cannot be said in time that this is durable, the outcome is not known.
func (s *Service) durably(ctx context.Context, look Look) error {
	found := false
	err := s.store.Durably(ctx, func(ctx context.Context) (bool, error) {
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

// exists refuses a name that is taken, when it is durable that it is: who repeats a request by name without a key learns by that that it was done. When it is not taken any
// more the use case begins anew.
func (s *Service) exists(ctx context.Context, refusal error, look func(context.Context) error) error {
	found := false
	err := s.durably(ctx, func(ctx context.Context) (bool, error) {
		_, there, err := ignoreNotFound(struct{}{}, look(ctx))
		found = there
		return there, err
	})
	switch {
	case err != nil:
		return err
	case !found:
		return &Conflict{}
	default:
		return refusal
	}
}

// readBackWithin reads back within its own time: the request's is often up just when the outcome is unknown. What is found is durable.
func readBackWithin[T any](ctx context.Context, s *Service, readBack func(context.Context) (T, bool, error)) (v T, found bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readBackLimit)
	defer cancel()
	err = s.durably(ctx, func(ctx context.Context) (_ bool, err error) {
		v, found, err = readBack(ctx)
		return found, err
	})
	return v, found, err
}

func retryLater(err error) bool {
	return ipam.IsCode(err, ipam.CodeContention) || ipam.IsCode(err, ipam.CodeUnavailable) || ipam.IsCode(err, ipam.CodeDeadline)
}

func outcomeUnknown(cause error) error {
	return ipam.Errorf(ipam.CodeOutcomeUnknown,
		"The database did not say whether the change was made. Repeat the same request with the same Idempotency-Key or name; it will be made once.").Because(cause)
}

func contention(cause error) error {
	return ipam.Errorf(ipam.CodeContention, "Too many requests changed the same thing at once. Nothing was changed; repeat the request.").Because(cause)
}

// ignoreNotFound turns a not_found error into absence.
func ignoreNotFound[T any](v T, err error) (T, bool, error) {
	switch {
	case err == nil:
		return v, true, nil
	case ipam.IsCode(err, ipam.CodeNotFound):
		return v, false, nil
	default:
		return v, false, err
	}
}

// asConflict takes a *Conflict out of an error.
func asConflict(err error) (*Conflict, bool) {
	var c *Conflict
	ok := errors.As(err, &c)
	return c, ok
}
