package crdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/carve-ipam/carve/migrations"
)

// ErrSchemaBehind says that the database lacks migrations this program needs.
var ErrSchemaBehind = errors.New("the database schema is older than this program: run `ipamctl migrate`")

// Migrate brings the schema to this program's version: the region type first, then the numbered files. It is safe to run
// twice and from several processes at once (they wait for each other through a lease in a table).
func Migrate(ctx context.Context, dsn, region string) error {
	cfg, err := parseDSN(dsn)
	if err != nil {
		return err
	}
	c, err := pgx.ConnectConfig(ctx, cfg.Copy())
	if err != nil {
		return fmt.Errorf("cannot connect to the database: %w", err)
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	eng, err := detectOn(ctx, c)
	if err != nil {
		return err
	}
	if err := eng.prepareRegions(ctx, c, region); err != nil {
		return err
	}
	p, closeDB, err := provider(cfg, migrations.FS)
	if err != nil {
		return err
	}
	defer closeDB()
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("cannot migrate the database: %w", err)
	}
	return nil
}

// CheckSchema answers ErrSchemaBehind when migrations are missing.
func CheckSchema(ctx context.Context, dsn string) error {
	cfg, err := parseDSN(dsn)
	if err != nil {
		return err
	}
	p, closeDB, err := provider(cfg, migrations.FS)
	if err != nil {
		return err
	}
	defer closeDB()
	pending, err := p.HasPending(ctx)
	if err != nil {
		return fmt.Errorf("cannot read the schema's version: %w", err)
	}
	if pending {
		return ErrSchemaBehind
	}
	return nil
}

// Servers that start together wait for the first of them, which is done in a second: goose's own 5 s between two looks would be
// most of their start.
const (
	lockPoll  = 250 * time.Millisecond
	lockPolls = 1200 // five minutes
)

// provider is goose on the database. The table lease works on both engines; advisory locks do not exist, or do
// nothing, on CockroachDB.
func provider(cfg *pgx.ConnConfig, files fs.FS) (*goose.Provider, func(), error) {
	db := stdlib.OpenDB(*cfg)
	closeDB := func() { _ = db.Close() }
	locker, err := lock.NewPostgresTableLocker(lock.WithTableLockTimeout(lockPoll, lockPolls))
	if err != nil {
		closeDB()
		return nil, nil, err
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithLocker(locker))
	if err != nil {
		closeDB()
		return nil, nil, err
	}
	return p, closeDB, nil
}
