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

// startLimit limits a start's time if the context has a later end. A recovery after a crash replays at most the log between two checkpoints.
const startLimit = 2 * time.Minute

// makeReady waits until the database responds, creates Carve's database if it is missing, and returns its DSN. dsn returns the DSN for a database
// name. initial names a database that every server has.
func makeReady(ctx context.Context, p *process, dsn func(name string) string, initial string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	var last error
	err := poll(ctx, func() (bool, error) {
		if p.hasExited() {
			return false, fmt.Errorf("it ended while starting: %w", p.report)
		}
		last = ensureDatabase(ctx, dsn(initial))
		return last == nil, nil
	})
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return "", fmt.Errorf("it did not respond in time: %w (last: %w)", err, last)
	}
	return dsn(database), err
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

// abandon stops a database that failed to start, and returns why.
func abandon(p *process, log *slog.Logger, why error) error {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	return errors.Join(why, p.stop(now, log))
}
