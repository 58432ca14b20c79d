// Package schema prepares a database before a server works on it: migrations, compatible programs, regions and localities, roles and grants. The
// differences between the engines are behind the interface engine.
package schema

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/carve-ipam/carve/internal/crdb/dial"
	"github.com/carve-ipam/carve/migrations"
)

// ErrBehind is the error if the database lacks migrations that this program needs.
var ErrBehind = errors.New("the database schema is older than this program: run `ipamctl migrate`")

// Survival goals for a database with several regions, on CockroachDB.
const (
	SurviveZone   = "zone"   // the loss of a zone: writes stay in their region
	SurviveRegion = "region" // the loss of a region: every write waits for another region
)

// MigrateOptions contains the deployment's choices for a schema.
type MigrateOptions struct {
	// Regions lists all the database's regions in the order in which they were added, the primary one first. A migration only adds regions, at the
	// end.
	Regions []string
	// Survive is SurviveZone, SurviveRegion, or empty, which keeps the database's goal (zone for a new one). Only CockroachDB supports it.
	Survive string
	// Roles for servers, retention and readers, and their users. The zero value leaves roles alone.
	Roles RoleOptions
	// Said is called with a sentence for every step, or with one at the end if no step was needed; nil: no messages.
	Said func(sentence string)
}

// say passes a message to Said.
func (o MigrateOptions) say(sentence string) {
	if o.Said != nil {
		o.Said(sentence)
	}
}

// Migrate updates a database to this program's version and to its regions. It changes regions and survival goal first. Next come the numbered files,
// which create tables in their localities. Then it moves misplaced tables, records the regions and changes the roles. It refuses impossible requests
// with ErrRegion or ErrRoles before it changes anything. It is safe to run twice, to run again after an interruption, and to run from several
// processes at once: they wait for each other through a lease in a table.
func Migrate(ctx context.Context, dsn string, o MigrateOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	cfg, err := dial.Parse(dsn)
	if err != nil {
		return err
	}
	c, err := pgx.ConnectConfig(ctx, cfg.Copy())
	if err != nil {
		return fmt.Errorf("cannot connect to the database: %w", err)
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	eng, err := detect(ctx, c)
	if err != nil {
		return err
	}
	if err := cmp.Or(CheckCompatible(ctx, c), notAhead(ctx, c)); err != nil {
		return err
	}
	if _, err := planRegions(ctx, eng, c, o); err != nil { // before the lease, because its table is a change too
		return err
	}
	if err := o.planRoles(ctx, c); err != nil {
		return err
	}
	maps.Copy(cfg.RuntimeParams, eng.migrating())
	return o.leased(ctx, cfg, func() error {
		if err := cmp.Or(CheckCompatible(ctx, c), notAhead(ctx, c)); err != nil {
			return err
		}
		steps, err := planRegions(ctx, eng, c, o) // again: another process may have changed them meanwhile
		if err != nil {
			return err
		}
		regions, err := o.take(ctx, c, steps)
		if err != nil {
			return err
		}
		if err := begin(ctx, c); err != nil {
			return err
		}
		locked, err := o.unlock(ctx, eng, c, cfg)
		if err != nil {
			return err
		}
		files, err := o.numbered(ctx, eng, cfg)
		if err != nil {
			return err
		}
		if steps, err = eng.localities(ctx, c, len(o.Regions)); err != nil {
			return fmt.Errorf("cannot read the localities of the tables: %w", err)
		}
		places, err := o.take(ctx, c, steps)
		if err != nil {
			return err
		}
		if err := o.lock(ctx, c, locked); err != nil {
			return err
		}
		rows, err := o.record(ctx, c)
		if err != nil {
			return err
		}
		grants, err := o.grant(ctx, eng, c)
		if err == nil && regions+files+places+rows+grants == 0 {
			o.say("nothing to do")
		}
		return err
	})
}

// numbered applies the missing files and returns their number.
func (o MigrateOptions) numbered(ctx context.Context, eng engine, cfg *pgx.ConnConfig) (done int, err error) {
	p, closeDB, err := provider(cfg, eng.files(len(o.Regions)))
	if err != nil {
		return 0, err
	}
	defer closeDB()
	applied, err := p.Up(ctx)
	if err != nil {
		return 0, fmt.Errorf("cannot migrate the database: %w", err)
	}
	if n := len(applied); n > 0 {
		o.say(fmt.Sprintf("applied migrations: %d, the last one is %s", n, path.Base(applied[n-1].Source.Path)))
	}
	return len(applied), nil
}

// Check returns ErrTooOld if this program may not work on the database, ErrBehind if migrations are missing, and ErrPrivileges if the user may not
// read the schema's version.
func Check(ctx context.Context, dsn string) error {
	cfg, err := dial.Parse(dsn)
	if err != nil {
		return err
	}
	if err := mayWork(ctx, cfg); err != nil {
		return err
	}
	p, closeDB, err := provider(cfg, migrations.FS)
	if err != nil {
		return err
	}
	defer closeDB()
	pending, err := p.HasPending(ctx)
	if denied(err) {
		return mayNotLook(ctx, cfg)
	}
	if err != nil {
		return fmt.Errorf("cannot read the schema's version: %w", err)
	}
	if pending {
		return ErrBehind
	}
	return nil
}

// mayWork runs CheckCompatible on its own connection. It ignores other errors, which the next check reports.
func mayWork(ctx context.Context, cfg *pgx.ConnConfig) error {
	c, err := pgx.ConnectConfig(ctx, cfg.Copy())
	if err != nil {
		return nil
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	if err := CheckCompatible(ctx, c); errors.Is(err, ErrTooOld) {
		return err
	}
	return nil
}

// Servers that start together wait for the first one, which takes a second. goose's default pause is 5 s, which would dominate their start.
const (
	lockPoll    = 250 * time.Millisecond
	lockPolls   = 1200 // 5 minutes
	unlockPolls = 20   // 5 seconds: if the database is gone, the lease expires after 30 s
)

// leased runs work while this process has the lease. Returning the lease is a write, which waits for a synchronous standby. So earlier steps that
// work found done are durable too when Migrate reports them. A lease in a table works on both engines: on CockroachDB, advisory locks do not exist or
// do nothing.
func (o MigrateOptions) leased(ctx context.Context, cfg *pgx.ConnConfig, work func() error) (err error) {
	db := stdlib.OpenDB(*cfg)
	defer func() { _ = db.Close() }()
	locker, err := lock.NewPostgresTableLocker(lock.WithTableLockTimeout(lockPoll, lockPolls), lock.WithTableUnlockTimeout(lockPoll, unlockPolls))
	if err != nil {
		return err
	}
	if err := (telling{locker, o}).Lock(ctx, db); err != nil {
		return fmt.Errorf("cannot get the lease for the migration: %w", err)
	}
	defer func() { err = errors.Join(err, unlock(ctx, locker, db)) }()
	return work()
}

func unlock(ctx context.Context, locker lock.Locker, db *sql.DB) error {
	if err := locker.Unlock(ctx, db); err != nil {
		return fmt.Errorf("cannot return the lease for the migration: %w", err)
	}
	return nil
}

// provider returns goose for the database, without a lease: callers that apply files have Migrate's lease.
func provider(cfg *pgx.ConnConfig, files fs.FS) (*goose.Provider, func(), error) {
	db := stdlib.OpenDB(*cfg)
	closeDB := func() { _ = db.Close() }
	p, err := goose.NewProvider(goose.DialectPostgres, db, files)
	if err != nil {
		closeDB()
		return nil, nil, err
	}
	return p, closeDB, nil
}
