// Package outcome says how an attempt of a transaction ended, when to try again, and what the caller is told when that is of no use.
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

// Ending is how an attempt ended.
type Ending int

// The endings of attempts.
const (
	Committed   Ending = iota
	Refused            // an error that trying again would not change
	Again              // definitely rolled back; try again
	AgainSlowly        // the same, but the database is out of reach or out of resources
	Unknown            // COMMIT was sent; no definite answer
)

// String is the ending in a word.
func (e Ending) String() string {
	return [...]string{"committed", "refused", "again", "again", "unknown"}[e]
}

// unknownOutcome marks an error met at COMMIT that is no definite answer.
type unknownOutcome struct{ cause error }

func (u *unknownOutcome) Error() string { return "outcome of COMMIT unknown: " + u.cause.Error() }
func (u *unknownOutcome) Unwrap() error { return u.cause }

// NotKnown is an error that was met at COMMIT and is no definite answer.
func NotKnown(cause error) error { return &unknownOutcome{cause} }

// IsUnknown reports whether an error leaves it open whether the change was made.
func IsUnknown(err error) bool {
	_, is := errors.AsType[*unknownOutcome](err)
	return is
}

// closureError is an error of a closure on a connection that still works: it is news neither from the database nor of the way
// to it, so it is final.
type closureError struct{ cause error }

func (e *closureError) Error() string { return e.cause.Error() }
func (e *closureError) Unwrap() error { return e.cause }

// OfClosure marks the error of a closure, unless the connection is gone with it.
func OfClosure(err error, c *pgx.Conn) error {
	if err == nil || c.IsClosed() {
		return err
	}
	return &closureError{err}
}

// foreignKeyViolation is the SQLSTATE of a row that another refers to and that is not there.
const foreignKeyViolation = "23503"

// noCode is what CockroachDB answers for errors to which it gives no SQLSTATE: those of its own network, for one, as when it ends a session that sat idle in
// a transaction for too long.
const noCode = "XXUUU"

// AtCommit sorts what COMMIT answered: an error of the server that means "rolled back" is definite, all else is not.
// Sources of the table: PostgreSQL's error codes; CockroachDB's transaction retry error reference.
func AtCommit(err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return NotKnown(err)
	}
	switch pg.Code[:2] {
	case "40":
		if pg.Code == "40003" { // statement completion unknown
			return NotKnown(err)
		}
		return err
	case "23", "22", "42": // a deferred constraint, bad data: the transaction is rolled back
		return err
	}
	switch pg.Code {
	case "CR000": // CockroachDB's historic retry code
		return err
	default: // 08xxx, 57P0x, 57014, 58C0x, 53xxx, XX000, XXUUU: the commit may or may not have happened
		return NotKnown(err)
	}
}

// BeforeCommit sorts what a statement answered that was sent with the COMMIT behind it: an error of the server that leaves its session as it is means that it
// passes over the rest, COMMIT included; all else is not definite. CockroachDB answers XXUUU, as an ERROR, when it ends the session.
func BeforeCommit(err error) error {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || cmp.Or(pg.SeverityUnlocalized, pg.Severity) != "ERROR" || pg.Code == noCode { // CockroachDB says the one alone, in English
		return NotKnown(err)
	}
	return err
}

// Classify decides how an attempt ended, and gives the SQLSTATE for metrics.
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
		return Unknown, state
	}
	var domain *ipam.Error
	var conflict *storage.Conflict
	var own *closureError
	switch {
	case errors.As(err, &conflict), errors.As(err, &domain) && pg == nil:
		return Refused, state
	case errors.Is(err, write.ErrStale), pg != nil && outOfDate(pg):
		return Again, state
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Refused, state
	case errors.Is(err, pgx.ErrTxCommitRollback), errors.Is(err, pgx.ErrNoRows), pgconn.Timeout(err):
		return Refused, state
	case pg == nil && errors.As(err, &own):
		return Refused, state
	case pg == nil: // the connection: cannot be made, or lost before COMMIT
		return AgainSlowly, state
	}
	return classifyState(pg.Code), state
}

// classifyState is for errors before COMMIT, when nothing can have been committed.
func classifyState(code string) Ending {
	switch code {
	case "40001", "40P01", "40003", "CR000": // serialization, deadlock, statement completion unknown (not committed yet)
		return Again
	case "55P03", "0A000", "26000": // lock not available; a cached plan that is out of date
		return Again
	case "57P01", "57P02", "57P03", "58C00", "58C01", "53300", "53200", "53100", "53000", "53400", "25006", "57P04", "25P03", "25P04", "28000", "28P01", "3D000", noCode:
		// Draining, crashed, starting; range unavailable; too many connections, no memory, no disk, other resources; a standby; the
		// database dropped; idle or transaction timeout; credentials changed; no such database; something that has no code on
		// CockroachDB, mostly of the network. None of them a bug of ours.
		return AgainSlowly
	}
	if code[:2] == "08" {
		return AgainSlowly
	}
	return Refused
}

// whyNot says what keeps a database from serving, in a sentence for callers.
func whyNot(err error) string {
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
		return "The database is a standby, and takes no changes."
	case "57P03":
		return "The database is starting."
	}
	return "The database cannot be reached."
}

// Refusal is what the caller is told when trying again is of no use: errors of the use case as they are, errors of
// the database as ours.
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
	return ipam.Errorf(ipam.CodeInternal, "The database refused the operation.").Because(err)
}
