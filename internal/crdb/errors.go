package crdb

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/write"
	"github.com/carve-ipam/carve/internal/ipam"
)

// ending is how an attempt ended.
type ending int

const (
	endCommitted   ending = iota
	endRefused            // an error that trying again would not change
	endAgain              // definitely rolled back; try again
	endAgainSlowly        // the same, but the database is out of reach or out of resources
	endUnknown            // COMMIT was sent; no definite answer
)

func (e ending) String() string {
	return [...]string{"committed", "refused", "again", "again", "unknown"}[e]
}

// unknownOutcome marks an error met at COMMIT that is no definite answer.
type unknownOutcome struct{ cause error }

func (u *unknownOutcome) Error() string { return "outcome of COMMIT unknown: " + u.cause.Error() }
func (u *unknownOutcome) Unwrap() error { return u.cause }

// closureError is an error of a closure on a connection that still works: it is news neither from the database nor of the way
// to it, so it is final.
type closureError struct{ cause error }

func (e *closureError) Error() string { return e.cause.Error() }
func (e *closureError) Unwrap() error { return e.cause }

// ofClosure marks the error of a closure, unless the connection is gone with it.
func ofClosure(err error, c *pgx.Conn) error {
	if err == nil || c.IsClosed() {
		return err
	}
	return &closureError{err}
}

// The SQLSTATEs of a key that exists already, and of a row that another refers to and that is not there.
const (
	foreignKeyViolation = "23503"
)

// atCommit sorts what COMMIT answered: an error of the server that means "rolled back" is definite, all else is not.
// Sources of the table: PostgreSQL's error codes; CockroachDB's transaction retry error reference.
func atCommit(err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return &unknownOutcome{cause: err}
	}
	switch pg.Code[:2] {
	case "40":
		if pg.Code == "40003" { // statement completion unknown
			return &unknownOutcome{cause: err}
		}
		return err
	case "23", "22", "42": // a deferred constraint, bad data: the transaction is rolled back
		return err
	}
	switch pg.Code {
	case "CR000": // CockroachDB's historic retry code
		return err
	default: // 08xxx, 57P0x, 57014, 58C0x, 53xxx, XX000, XXUUU: the commit may or may not have happened
		return &unknownOutcome{cause: err}
	}
}

// classify decides how an attempt ended, and gives the SQLSTATE for metrics.
func classify(err error) (ending, string) {
	if err == nil {
		return endCommitted, ""
	}
	var pg *pgconn.PgError
	state := ""
	if errors.As(err, &pg) {
		state = pg.Code
	}
	if _, ok := errors.AsType[*unknownOutcome](err); ok {
		return endUnknown, state
	}
	var domain *ipam.Error
	var conflict *storage.Conflict
	var own *closureError
	switch {
	case errors.As(err, &conflict), errors.As(err, &domain) && pg == nil:
		return endRefused, state
	case errors.Is(err, write.ErrStale), pg != nil && outOfDate(pg):
		return endAgain, state
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return endRefused, state
	case errors.Is(err, pgx.ErrTxCommitRollback), errors.Is(err, pgx.ErrNoRows), pgconn.Timeout(err):
		return endRefused, state
	case pg == nil && errors.As(err, &own):
		return endRefused, state
	case pg == nil: // the connection: cannot be made, or lost before COMMIT
		return endAgainSlowly, state
	}
	return classifyState(pg.Code), state
}

// classifyState is for errors before COMMIT, when nothing can have been committed.
func classifyState(code string) ending {
	switch code {
	case "40001", "40P01", "40003", "CR000": // serialization, deadlock, statement completion unknown (not committed yet)
		return endAgain
	case "55P03", "0A000", "26000": // lock not available; a cached plan that is out of date
		return endAgain
	case "57P01", "57P02", "57P03", "58C00", "58C01", "53300", "53200", "53100", "53000", "53400", "25006", "57P04", "25P03", "25P04", "28000", "28P01", "3D000":
		// Draining, crashed, starting; range unavailable; too many connections, no memory, no disk, other resources; a standby; the
		// database dropped; idle or transaction timeout; credentials changed; no such database. None of them a bug of ours.
		return endAgainSlowly
	}
	if code[:2] == "08" {
		return endAgainSlowly
	}
	return endRefused
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

// refusedError is what leaves the package when trying again is of no use: errors of the use case as they are, errors of
// the database as ours.
func refusedError(ctx context.Context, op string, err error) error {
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
		return deadline(err)
	case errors.As(err, &own):
		return own.cause
	case ctx.Err() != nil:
		return deadline(err)
	}
	return ipam.Errorf(ipam.CodeInternal, "The database refused the operation.").Because(err)
}
