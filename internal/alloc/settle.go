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
// run would collide on a unique key or a revision, and whoever loses reads back.
func settled[T any](ctx context.Context, s *Service, op string, locks Locks, dryRun bool,
	fn func(context.Context, Tx) (T, error), readBack func(context.Context) (T, bool, error),
) (T, error) {
	var zero T
	unsure := false
	for range maxRounds {
		v, err := inTx(ctx, s, op, locks, dryRun, fn)
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
		back, found, readErr := readBackWithin(ctx, readBack)
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

// readBackWithin reads back within its own time: the request's is often up just when the outcome is unknown.
func readBackWithin[T any](ctx context.Context, readBack func(context.Context) (T, bool, error)) (T, bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readBackLimit)
	defer cancel()
	return readBack(ctx)
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
