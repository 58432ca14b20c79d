// Package outcome classifies attempts at transactions and decides about retries. If no retry helps, it returns the error for the caller.
package outcome

import (
	"cmp"
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/write"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Ending is an attempt's result.
type Ending int

// The possible endings.
const (
	Committed     Ending = iota
	Refused              // an error that a retry would not change
	Retry                // definitely rolled back; retry
	RetrySlowly          // as Retry, but the database is unreachable or lacks resources
	Indeterminate        // COMMIT was sent, and no definite reply came back
)

// String returns a word for the ending.
func (e Ending) String() string {
	return [...]string{"committed", "refused", "again", "again", "unknown"}[e]
}

// unknownOutcome wraps an error at COMMIT that is not a definite reply.
type unknownOutcome struct{ cause error }

func (u *unknownOutcome) Error() string { return "outcome of COMMIT unknown: " + u.cause.Error() }
func (u *unknownOutcome) Unwrap() error { return u.cause }

// Unknown wraps an error at COMMIT that is not a definite reply.
func Unknown(cause error) error { return &unknownOutcome{cause} }

// IsUnknown reports whether err leaves open whether the change was made.
func IsUnknown(err error) bool {
	_, is := errors.AsType[*unknownOutcome](err)
	return is
}

// closureError is an error that a transaction's function returned while its connection still works. If it contains no database error, the function
// itself created the error, and the error is final.
type closureError struct{ cause error }

func (e *closureError) Error() string { return e.cause.Error() }
func (e *closureError) Unwrap() error { return e.cause }

// OfClosure wraps the error from a transaction's function in a closureError, unless the connection is closed.
func OfClosure(err error, c *pgx.Conn) error {
	if err == nil || c.IsClosed() {
		return err
	}
	return &closureError{err}
}

// foreignKeyViolation is the SQLSTATE for a reference to a missing row.
const foreignKeyViolation = "23503"

// noCode is CockroachDB's code for an error without an SQLSTATE. Examples are an error on its own network, and a session that CockroachDB ended
// because it was idle in a transaction for too long.
const noCode = "XXUUU"

// AtCommit classifies the error from a COMMIT. If the server reports that the transaction is rolled back, the error is definite. For every other
// error the outcome is unknown. The sources are the lists of error codes (PostgreSQL) and retry errors (CockroachDB) in the documentation.
func AtCommit(err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return Unknown(err)
	}
	switch pg.Code[:2] {
	case "40":
		if pg.Code == "40003" { // "statement completion unknown"
			return Unknown(err)
		}
		return err
	case "23", "22", "42": // for example a deferred constraint or bad data; the transaction is rolled back
		return err
	}
	switch pg.Code {
	case "CR000": // CockroachDB's old retry code
		return err
	default: // 08xxx, 57P0x, 57014, 58C0x, 53xxx, XX000, XXUUU: the transaction may be committed
		return Unknown(err)
	}
}

// BeforeCommit classifies the error from a statement that was sent together with its COMMIT. If the server reports an error and keeps the session, it
// skips all later statements, including the COMMIT. For every other error the outcome is unknown. If CockroachDB ends a session, it reports the code
// XXUUU with severity ERROR. So this code is not definite.
func BeforeCommit(err error) error {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || cmp.Or(pg.SeverityUnlocalized, pg.Severity) != "ERROR" || pg.Code == noCode { // CockroachDB sends only Severity, in English
		return Unknown(err)
	}
	return err
}

// Classify returns an attempt's ending, and the SQLSTATE for metrics.
func Classify(err error) (Ending, string) {
	if err == nil {
		return Committed, ""
	}
	var pg *pgconn.PgError
	state := ""
	if errors.As(err, &pg) {
		state = pg.Code
	}
	if IsUnknown(err) {
		return Indeterminate, state
	}
	var domain *ipam.Error
	var conflict *storage.Conflict
	var own *closureError
	switch {
	case errors.As(err, &conflict), errors.As(err, &domain) && pg == nil:
		return Refused, state
	case errors.Is(err, write.ErrStale), pg != nil && outOfDate(pg):
		return Retry, state
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), pgconn.Timeout(err),
		errors.Is(err, pgx.ErrTxCommitRollback), errors.Is(err, pgx.ErrNoRows), pg == nil && errors.As(err, &own):
		return Refused, state
	case pg == nil: // the connection could not be made, or was lost before COMMIT
		return RetrySlowly, state
	}
	return classifyState(pg.Code), state
}

// classifyState classifies the SQLSTATE of an error before COMMIT. At that time nothing can be committed.
func classifyState(code string) Ending {
	switch code {
	case "40001", "40P01", "40003", "CR000": // serialization failure, deadlock, and "statement completion unknown", which is harmless before COMMIT
		return Retry
	case "55P03", "0A000", "26000": // a lock is not available, or a cached plan is stale
		return Retry
	case "57P01", "57P02", "57P03", "58C00", "58C01", "53300", "53200", "53100", "53000", "53400", "25006", "57P04", "25P03", "25P04", "28000", "28P01", "3D000", noCode:
		// None of these is a bug in Carve:
		//
		//   - The server drains, has crashed or starts.
		//   - A range is unavailable.
		//   - Connections, memory, disk or other resources are exhausted.
		//   - The server is a standby.
		//   - The database is dropped or does not exist.
		//   - The idle timeout or the transaction timeout has passed.
		//   - The credentials have changed.
		//   - CockroachDB reports an error without a code, usually from its network.
		return RetrySlowly
	}
	if code[:2] == "08" {
		return RetrySlowly
	}
	return Refused
}

// unavailableReason returns the reason why the database does not serve requests, as a sentence for callers.
func unavailableReason(err error) string {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return "The database cannot be reached."
	}
	switch pg.Code {
	case "53100":
		return "The database's disk is full."
	case "53200":
		return "The database is out of memory."
	case "53300":
		return "The database has no connection to spare."
	case "53000", "53400":
		return "The database is out of resources."
	case "25006":
		return "The database is a standby and accepts no changes."
	case "57P03":
		return "The database is starting."
	}
	return "The database cannot be reached."
}

// Refusal returns the error for the caller when no retry helps. It keeps the use case's error, and converts the database's error.
func Refusal(ctx context.Context, op string, err error) error {
	if conflict, ok := errors.AsType[*storage.Conflict](err); ok {
		return conflict
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return databaseError(op, pg)
	}
	if domain, ok := errors.AsType[*ipam.Error](err); ok {
		return domain
	}
	var own *closureError
	switch {
	case pgconn.Timeout(err), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Deadline(err)
	case errors.As(err, &own):
		return own.cause
	case ctx.Err() != nil:
		return Deadline(err)
	}
	return ipam.Errorf(ipam.CodeInternal, "The database refused the operation.").WithCause(err)
}
