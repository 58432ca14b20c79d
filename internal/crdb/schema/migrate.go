// Package schema is what is there in a database before a server works: migrations, which programs may work on it, regions and
// where tables are, roles and what is granted to them. What differs between the engines is said by the interface engine.
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

// ErrBehind says that the database lacks migrations this program needs.
var ErrBehind = errors.New("the database schema is older than this program: run `ipamctl migrate`")

// What a database with several regions survives, on CockroachDB.
const (
	SurviveZone   = "zone"   // the loss of a zone: writes stay in their region
	SurviveRegion = "region" // the loss of a region: every write waits for another region
)

// MigrateOptions are the deployment's part of a schema.
type MigrateOptions struct {
	// Regions of the database, the primary one first. Regions are only added, behind those that are there: the list holds all of them, in the
	// order in which they were added.
	Regions []string
	// Survive is SurviveZone, SurviveRegion, or empty: as the database has it, which is zone for a new one. Only CockroachDB knows it.
	Survive string
	// Roles for servers, retention and readers, and who has them; the zero value leaves them alone.
	Roles RoleOptions
	// Said is told of every step that was taken, in a sentence, or at the end that there was none to take; nil: nobody listens.
	Said func(sentence string)
}

// say tells whoever listens.
func (o MigrateOptions) say(sentence string) {
	if o.Said != nil {
		o.Said(sentence)
	}
}

// Migrate brings a database to this program's version and to its regions: regions and survival goal first, then the numbered files, whose new tables
// are where they belong, then the place of each table that is elsewhere and the record of the regions, then the roles. What cannot be is refused with
// ErrRegion or ErrRoles before anything is changed. It is safe to run twice, to run again after it was cut off, and to run from several processes at
// once (they wait for each other through a lease in a table).
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
	if _, err := planRegions(ctx, eng, c, o); err != nil { // before the lease, whose table is a change too
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
		steps, err := planRegions(ctx, eng, c, o) // again: somebody else may have been at work meanwhile
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
			return fmt.Errorf("cannot read where the tables are: %w", err)
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
			o.say("there is nothing to do")
		}
		return err
	})
}

// numbered applies the files that the database lacks, and says how many that were.
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
		o.say(fmt.Sprintf("migrations that were applied: %d, the last one is %s", n, path.Base(applied[n-1].Source.Path)))
	}
	return len(applied), nil
}

// Check answers ErrTooOld when this program may not work on the database, ErrBehind when migrations are missing, and ErrPrivileges when the user may not look.
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

// mayWork is compatible, on a connection of its own. What else is wrong with the database is said by whoever looks next.
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

// Servers that start together wait for the first of them, which is done in a second: goose's own 5 s between two looks would be
// most of their start.
const (
	lockPoll    = 250 * time.Millisecond
	lockPolls   = 1200 // five minutes
	unlockPolls = 20   // five seconds: where the database is gone, the lease ends by itself in thirty
)

// leased runs work while nobody else does. To give the lease back is a write that waits for a synchronous standby, where there is one: what was found
// done already is durable, too, when it is said to be. A lease in a table works on both engines; advisory locks do not exist, or do
// nothing, on CockroachDB.
func (o MigrateOptions) leased(ctx context.Context, cfg *pgx.ConnConfig, work func() error) (err error) {
	db := stdlib.OpenDB(*cfg)
	defer func() { _ = db.Close() }()
	locker, err := lock.NewPostgresTableLocker(lock.WithTableLockTimeout(lockPoll, lockPolls), lock.WithTableUnlockTimeout(lockPoll, unlockPolls))
	if err != nil {
		return err
	}
	if err := (telling{locker, o}).Lock(ctx, db); err != nil {
		return fmt.Errorf("cannot get the lease for migrating: %w", err)
	}
	defer func() { err = errors.Join(err, unlock(ctx, locker, db)) }()
	return work()
}

func unlock(ctx context.Context, locker lock.Locker, db *sql.DB) error {
	if err := locker.Unlock(ctx, db); err != nil {
		return fmt.Errorf("cannot give the lease for migrating back: %w", err)
	}
	return nil
}

// provider is goose on the database. It has no lease of its own: whoever applies files has Migrate's.
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
