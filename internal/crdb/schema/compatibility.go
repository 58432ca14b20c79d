package schema

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/dial"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/migrations"
)

// ErrTooOld is the error for a program that is too old to work on the database without damage.
var ErrTooOld = errors.New("this program is too old for the database")

// ErrAhead is Migrate's error if the database has migrations that this program does not know. A server with this version may still work on the
// database.
var ErrAhead = errors.New("the database schema is newer than this program")

// CheckCompatible returns ErrTooOld if the database requires a later schema than this program knows. A database without a schema requires nothing. If
// the user may not read the requirement, CheckCompatible returns nil, because another check reports the missing privilege.
func CheckCompatible(ctx context.Context, c *pgx.Conn) error {
	minimum, err := numberOr0(c.QueryRow(ctx, query.Get("compatibility_get")))
	if denied(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot read which versions may use the database: %w", err)
	}
	if known := Version(); minimum > known {
		return fmt.Errorf("%w: it knows the schema up to number %d, and the database requires programs that know at least number %d; "+
			"use the version of the last `ipamctl migrate`, or a later one", ErrTooOld, known, minimum)
	}
	return nil
}

// notAhead returns ErrAhead if the database has a migration that this program does not know.
func notAhead(ctx context.Context, c *pgx.Conn) error {
	applied, err := numberOr0(c.QueryRow(ctx, askApplied))
	if err != nil {
		return fmt.Errorf("cannot read the schema's version: %w", err)
	}
	if known := Version(); applied > known {
		return fmt.Errorf("%w: it has number %d, and this program knows up to number %d; nothing was changed. Run the `ipamctl migrate` of the newer version",
			ErrAhead, applied, known)
	}
	return nil
}

// numberOr0 returns the number in a row. It returns 0 if the table, the row or the value does not exist.
func numberOr0(row pgx.Row) (int64, error) {
	var n *int64
	err := row.Scan(&n)
	switch {
	case errors.Is(err, pgx.ErrNoRows), dial.IsState(err, undefinedTable), err == nil && n == nil:
		return 0, nil
	case err != nil:
		return 0, err
	}
	return *n, nil
}

// Version returns the number of the last migration that this program knows.
func Version() (last int64) {
	entries, err := migrations.FS.ReadDir(".")
	if err != nil {
		panic(err) // embedded, so it cannot fail at run time
	}
	for _, e := range entries {
		number, _, _ := strings.Cut(e.Name(), "_")
		if n, err := strconv.ParseInt(number, 10, 64); err == nil {
			last = max(last, n)
		}
	}
	return last
}
