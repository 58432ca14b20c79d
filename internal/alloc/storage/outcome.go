package storage

import (
	"context"
	"errors"

	"github.com/carve-ipam/carve/internal/ipam"
)

// PoolNotFound returns the error for a poolRef to a missing pool, or to one that the claim may not see. The error is the same for both.
func PoolNotFound(ref ipam.Ref) *ipam.Error {
	return ipam.Errorf(ipam.CodeNotFound, "Pool %s was not found.", ref).At("/spec/poolRef/name", "does not exist here, or is not shared with this project: check the name.")
}

// ClassNotFound returns the error for a class that is missing or invisible to the project. The error is the same for both.
func ClassNotFound(ref ipam.Ref) *ipam.Error {
	return ipam.Errorf(ipam.CodeNotFound, "Class %q was not found in project %q.", ref.Name, ref.Project)
}

// Shed reports whether a limit refused a request. Nothing was decided about the request, so no look-up is needed.
func Shed(err error) bool { return errors.Is(err, ipam.ErrShed) }

// LockTimeout returns the error for a request that waited for a lock until its context ended.
func LockTimeout(ctx context.Context) error {
	return ipam.Errorf(ipam.CodeDeadline, "The request waited too long for a lock. Nothing was changed; repeat the request.").Because(ctx.Err())
}

// RegionNotRecorded ends a transaction under a pool lock when its claims or consumers would be the first of their projects in a region. The caller then
// records the project's region with Store.Place and retries.
type RegionNotRecorded struct {
	Projects []ipam.ID
	Region   string
}

// Error implements error.
func (u *RegionNotRecorded) Error() string {
	return "a project has no claims in region " + u.Region + " yet"
}

// LockBusy ends a transaction with InTurn because another transaction exclusively holds a lock that it would share. Store.Await waits for that lock.
type LockBusy struct{ ID ipam.ID }

// Error implements error.
func (o *LockBusy) Error() string { return "another transaction holds the lock " + o.ID.String() }

// NotFoundAt adds to a not_found error the pointer to the field with the reference.
func NotFoundAt(err error, pointer string) error {
	if e, ok := err.(*ipam.Error); ok && e.Code == ipam.CodeNotFound { //nolint:errorlint // only the error itself, not a wrapped one, is about this reference
		return e.At(pointer, "does not exist here, or is not shared with this project: check the name.")
	}
	return err
}

// RetryLater reports whether a transaction was given up, or never begun, but could succeed later.
func RetryLater(err error) bool {
	return Shed(err) || ipam.IsCode(err, ipam.CodeContention) || ipam.IsCode(err, ipam.CodeUnavailable) || ipam.IsCode(err, ipam.CodeDeadline)
}

// OutcomeUnknown returns the error for an indeterminate commit.
func OutcomeUnknown(cause error) error {
	return ipam.Errorf(ipam.CodeOutcomeUnknown,
		"The database did not confirm whether the change was made. Repeat the same request with the same Idempotency-Key or name; it takes effect only once.").Because(cause)
}

// Contention returns the error for a request that lost too many conflicts.
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

// AsConflict extracts a *Conflict from an error.
func AsConflict(err error) (*Conflict, bool) { return errors.AsType[*Conflict](err) }

// ErrCacheMiss means that a transaction's facts are not cached, or are outdated. Nothing was done, and InTx reads them.
var ErrCacheMiss = errors.New("it is not cached")
