package storage

import (
	"context"
	"errors"

	"github.com/carve-ipam/carve/internal/ipam"
)

// PoolNotFound says that the pool of a poolRef is missing, or none of the claim's business: the two cannot be told apart.
func PoolNotFound(ref ipam.Ref) *ipam.Error {
	return ipam.Errorf(ipam.CodeNotFound, "Pool %s was not found.", ref).At("/spec/poolRef/name", "names nothing that exists here.")
}

// ClassNotFound says that a class is missing, or none of the project's business: the two cannot be told apart.
func ClassNotFound(ref ipam.Ref) *ipam.Error {
	return ipam.Errorf(ipam.CodeNotFound, "Class %q was not found in project %q.", ref.Name, ref.Project)
}

// Shed reports whether a request was refused for want of a place: nothing was decided about it, and nothing is to be looked up for it.
func Shed(err error) bool { return errors.Is(err, ipam.ErrShed) }

// TurnNeverCame is the answer to who waited for a turn until its time was up, or it went away.
func TurnNeverCame(ctx context.Context) error {
	return ipam.Errorf(ipam.CodeDeadline, "The request waited too long for its turn. Nothing was changed; repeat the request.").Because(ctx.Err())
}

// Unplaced ends a transaction in a turn whose claims or consumers would be the first of their projects in a region: Store.Place notes that first.
type Unplaced struct {
	Projects []ipam.ID
	Region   string
}

// Error implements error.
func (u *Unplaced) Error() string { return "a project has no claims in region " + u.Region + " yet" }

// Occupied ends a transaction in a turn because another transaction has a lock alone that it would share. Store.Await waits for that lock.
type Occupied struct{ ID ipam.ID }

// Error implements error.
func (o *Occupied) Error() string { return "another transaction is alone with " + o.ID.String() }

// NotFoundAt points a not_found error about a reference at the field that holds the reference.
func NotFoundAt(err error, pointer string) error {
	if e, ok := err.(*ipam.Error); ok && e.Code == ipam.CodeNotFound { //nolint:errorlint // only the error itself, not a wrapped one, speaks of this reference
		return e.At(pointer, "names nothing that exists here.")
	}
	return err
}

// RetryLater reports whether a transaction was given up, or not begun, although it could succeed later.
func RetryLater(err error) bool {
	return Shed(err) || ipam.IsCode(err, ipam.CodeContention) || ipam.IsCode(err, ipam.CodeUnavailable) || ipam.IsCode(err, ipam.CodeDeadline)
}

// OutcomeUnknown says that nobody knows whether the change was made.
func OutcomeUnknown(cause error) error {
	return ipam.Errorf(ipam.CodeOutcomeUnknown,
		"The database did not say whether the change was made. Repeat the same request with the same Idempotency-Key or name; it will be made once.").Because(cause)
}

// Contention says that a request lost to others too often.
func Contention(cause error) error {
	return ipam.Errorf(ipam.CodeContention, "Too many requests changed the same thing at once. Nothing was changed; repeat the request.").Because(cause)
}

// IgnoreNotFound turns a not_found error into absence.
func IgnoreNotFound[T any](v T, err error) (T, bool, error) {
	switch {
	case err == nil:
		return v, true, nil
	case ipam.IsCode(err, ipam.CodeNotFound):
		return v, false, nil
	default:
		return v, false, err
	}
}

// AsConflict takes a *Conflict out of an error.
func AsConflict(err error) (*Conflict, bool) { return errors.AsType[*Conflict](err) }

// ErrForgotten says that what a transaction needs is not remembered, or is not so any more: nothing was done, and InTx finds out.
var ErrForgotten = errors.New("it is not remembered")
