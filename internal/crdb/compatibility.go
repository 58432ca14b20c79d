package crdb

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/ipam"
)

// ErrTooOld says that the database has been changed in a way that this program would break something by working on it.
var ErrTooOld = errors.New("this program is too old for the database")

// ErrSchemaAhead says that the database has migrations that this program does not know. It may work there, and has nothing to migrate.
var ErrSchemaAhead = errors.New("the database schema is newer than this program")

// CheckCompatible answers ErrTooOld when the database says that programs have to know a later schema than this one does. A database without a schema
// says nothing, and a user who may not read it is told so elsewhere.
func CheckCompatible(ctx context.Context, c *pgx.Conn) error { return compatible(ctx, c) }

// rower is a connection, or one of a pool.
type rower interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func compatible(ctx context.Context, c rower) error {
	minimum, err := numberOr0(c.QueryRow(ctx, query.Get("compatibility_get")))
	if denied(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot read which programs may work on the database: %w", err)
	}
	if known := SchemaVersion(); minimum > known {
		return fmt.Errorf("%w: it knows the schema up to number %d, and the database has been changed so that programs must know number %d at least; "+
			"use the version whose `ipamctl migrate` was run last, or a later one", ErrTooOld, known, minimum)
	}
	return nil
}

// notAhead answers ErrSchemaAhead when the database has a migration that this program does not.
func notAhead(ctx context.Context, c rower) error {
	applied, err := numberOr0(c.QueryRow(ctx, askApplied))
	if err != nil {
		return fmt.Errorf("cannot read the schema's version: %w", err)
	}
	if known := SchemaVersion(); applied > known {
		return fmt.Errorf("%w: it has number %d, and this program knows up to number %d; nothing was changed. Run the `ipamctl migrate` of the newer version",
			ErrSchemaAhead, applied, known)
	}
	return nil
}

// numberOr0 is what a row holds; 0 when there is no row, nothing in it, or no such table.
func numberOr0(row pgx.Row) (int64, error) {
	var n *int64
	err := row.Scan(&n)
	var pg *pgconn.PgError
	switch {
	case errors.Is(err, pgx.ErrNoRows), errors.As(err, &pg) && pg.Code == undefinedTable:
		return 0, nil
	case err != nil:
		return 0, err
	case n == nil:
		return 0, nil
	}
	return *n, nil
}

// standingDown is what becomes of a store whose program has become too old while it worked: it changes nothing any more.
type standingDown struct {
	once sync.Once
	done chan struct{} // closed then
	why  error         // set before
}

// TooOld is closed when the database does not allow this program to work on it any more; WhyTooOld says why then. What is asked of the store from then
// on, and would change something, is refused.
func (s *Store) TooOld() <-chan struct{} { return s.tooOld.done }

// WhyTooOld is ErrTooOld with its figures, or nil while all is well.
func (s *Store) WhyTooOld() error {
	select {
	case <-s.tooOld.done:
		return s.tooOld.why
	default:
		return nil
	}
}

// checkCompatible looks whether the program may go on, once and without trying again.
func (s *Store) checkCompatible(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, clockLimit)
	defer cancel()
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	err = compatible(ctx, c)
	if errors.Is(err, ErrTooOld) {
		s.tooOld.once.Do(func() {
			s.tooOld.why = err
			close(s.tooOld.done)
		})
	}
	return err
}

// mayChange refuses changes by a program that is too old.
func (s *Store) mayChange() error {
	why := s.WhyTooOld()
	if why == nil {
		return nil
	}
	e := ipam.Errorf(ipam.CodeUnavailable, "This server is too old for its database and is being stopped. Nothing was changed; repeat the request, which another server will answer.").Because(why)
	e.RetryAfter = clockEvery
	return e
}
