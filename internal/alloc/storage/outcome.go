package storage

import (
	"context"
	"errors"

	"github.com/carve-ipam/carve/internal/ipam"
)

// PoolNotFound returns the error for a poolRef to a missing pool, or to a pool that the claim may not see. Both cases have the same error, so that
// the caller cannot distinguish them.
func PoolNotFound(ref ipam.Ref) *ipam.Error {
	return ipam.Errorf(ipam.CodeNotFound, "Pool %s was not found.", ref).At("/spec/poolRef/name", "does not exist here, or is not shared with this project: check the name.")
}

// ClassNotFound returns the error for a missing class, or for a class that the project may not see. Both cases have the same error.
func ClassNotFound(ref ipam.Ref) *ipam.Error {
	return ipam.Errorf(ipam.CodeNotFound, "Class %q was not found in project %q.", ref.Name, ref.Project)
}

// Shed reports whether a limit refused a request. The server decided nothing about such a request, so no look-up is needed.
func Shed(err error) bool { return errors.Is(err, ipam.ErrShed) }

// LockTimeout returns the error for a request that waited for a lock until its context ended.
func LockTimeout(ctx context.Context) error {
	return ipam.Errorf(ipam.CodeDeadline, "The request waited too long for a lock. Nothing was changed; repeat the request.").WithCause(ctx.Err())
}

// RegionNotRecorded ends a transaction under a pool's lock. The transaction would create a project's first claims or consumers in a region. The
// caller first records the region for the project with Store.RecordRegion, and then retries.
type RegionNotRecorded struct {
	Projects []ipam.ID
	Region   string
}

// Error implements error.
func (u *RegionNotRecorded) Error() string {
	return "a project has no claims in region " + u.Region + " yet"
}

// LockBusy ends a transaction with Locks.TryShared if another transaction exclusively holds a shared lock that it needs. Store.Await waits for that
// lock.
type LockBusy struct{ ID ipam.ID }

// Error implements error.
func (o *LockBusy) Error() string { return "another transaction holds the lock " + o.ID.String() }

// NotFoundAt adds a field pointer to a not_found error. The pointer names the field with the reference to the missing object.
func NotFoundAt(err error, pointer string) error {
	if e, ok := err.(*ipam.Error); ok && e.Code == ipam.CodeNotFound { //nolint:errorlint // only the error itself, not a wrapped one, is about this reference
		return e.At(pointer, "does not exist here, or is not shared with this project: check the name.")
	}
	return err
}

// RetryLater reports whether a transaction did not commit or did not begin, but may succeed later.
func RetryLater(err error) bool {
	return Shed(err) || ipam.IsCode(err, ipam.CodeContention) || ipam.IsCode(err, ipam.CodeUnavailable) || ipam.IsCode(err, ipam.CodeDeadline)
}

// OutcomeUnknown returns the error for a COMMIT with an unknown result.
func OutcomeUnknown(cause error) error {
	return ipam.Errorf(ipam.CodeOutcomeUnknown,
		"The database did not confirm whether the change was made. Repeat the same request with the same Idempotency-Key or name; it takes effect only once.").WithCause(cause)
}

// Contention returns the error for a request that met too many conflicts.
func Contention(cause error) error {
	return ipam.Errorf(ipam.CodeContention, "Too many requests changed the same thing at once. Nothing was changed; repeat the request.").WithCause(cause)
}

// IgnoreNotFound returns false instead of a not_found error.
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

// AsConflict returns the *Conflict in an error.
func AsConflict(err error) (*Conflict, bool) { return errors.AsType[*Conflict](err) }

// ErrCacheMiss means that the facts for a transaction are not cached, or are outdated. Nothing was done. The caller can run the transaction with
// InTx, which reads the facts.
var ErrCacheMiss = errors.New("it is not cached")
