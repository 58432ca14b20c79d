//go:build unix

package devdb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
)

// startLimit limits the time of a start if the context ends later. A recovery after a crash replays at most the log between two checkpoints.
const startLimit = 2 * time.Minute

// makeReady waits until the database responds, creates Carve's database if it is missing, and returns its DSN. dsnOf returns the DSN for a database
// name. initial is the name of a database that every server has.
func makeReady(ctx context.Context, p *process, dsnOf func(name string) string, initial string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	var last error
	err := poll(ctx, func() (bool, error) {
		if p.hasExited() {
			return false, fmt.Errorf("it ended while starting: %w", p.report)
		}
		last = ensureDatabase(ctx, dsnOf(initial))
		return last == nil, nil
	})
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return "", fmt.Errorf("it did not respond in time: %w (last: %w)", err, last)
	}
	return dsnOf(database), err
}

// ensureDatabase creates Carve's database if it is missing.
func ensureDatabase(ctx context.Context, dsn string) error {
	// Each attempt has its own timeout, so that one blocked connection does not use up the whole time.
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var there bool
	err = conn.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_database WHERE datname = $1)", database).Scan(&there)
	if err != nil || there {
		return err
	}
	_, err = conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{database}.Sanitize())
	return err
}

// abandon stops a database that failed to start, and returns the cause.
func abandon(p *process, log *slog.Logger, cause error) error {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	return errors.Join(cause, p.stop(now, log))
}
