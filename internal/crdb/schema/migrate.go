// Package schema prepares a database before a server works on it. It runs the migrations, checks which programs are compatible, and sets regions,
// localities, roles and grants. The differences between the engines are behind the interface engine.
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
)

// ErrBehind is the error if the database lacks migrations that this program needs.
var ErrBehind = errors.New("the database schema is older than this program: run `ipamctl migrate`")

// Survival goals for a database with several regions, on CockroachDB. With the goal zone, a database survives the loss of a zone. With the goal
// region, it survives the loss of a region.
const (
	SurviveZone   = "zone"   // a write waits only for its own region
	SurviveRegion = "region" // every write waits for another region
)

// MigrateOptions contains a deployment's choices for its schema.
type MigrateOptions struct {
	// Regions lists all the database's regions in the order in which they were added. The first is the primary region. A migration can only add
	// regions at the end.
	Regions []string
	// Survive is SurviveZone, SurviveRegion or "". With "", the database's goal does not change. A new database then has the goal zone. Only
	// CockroachDB has survival goals.
	Survive string
	// Roles configures the roles for servers, retention and readers, and their users. With the zero value, Migrate does not change roles.
	Roles RoleOptions
	// Report is called with a sentence for every step. If no step is needed, it is called once at the end. nil: no messages.
	Report func(sentence string)
}

// report passes a message to Report.
func (o MigrateOptions) report(sentence string) {
	if o.Report != nil {
		o.Report(sentence)
	}
}

// Migrate updates a database to this program's version and to the requested regions. It works in this order:
//
//  1. It refuses an impossible request with ErrRegion or ErrRoles, before any change.
//  2. It changes the regions and the survival goal.
//  3. It applies the numbered migration files, which create tables in their localities.
//  4. It moves tables to their localities.
//  5. It records the regions.
//  6. It changes the roles.
//
// Migrate is safe to run twice, and to run again after an interruption. Several processes may run it at the same time: a lease in a table makes them
// wait for each other.
func Migrate(ctx context.Context, dsn string, o MigrateOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	cfg, err := dial.Parse(dsn)
	if err != nil {
		return err
	}
	c, eng, err := connect(ctx, cfg)
	if err != nil {
		return err
	}
	defer dial.Close(ctx, c)
	plan := func() ([]ddl, error) {
		if err := cmp.Or(CheckCompatible(ctx, c), notAhead(ctx, c)); err != nil {
			return nil, err
		}
		return planRegions(ctx, eng, c, o)
	}
	if _, err := plan(); err != nil { // before the lease, because getting the lease already creates a table
		return err
	}
	if err := o.planRoles(ctx, c); err != nil {
		return err
	}
	maps.Copy(cfg.RuntimeParams, eng.migrationSettings())
	return o.withLease(ctx, cfg, func() error {
		steps, err := plan() // checked again, because another process may have changed the database since
		if err != nil {
			return err
		}
		regions, err := o.take(ctx, c, steps)
		if err != nil {
			return err
		}
		if err := insertVersionZero(ctx, c); err != nil {
			return err
		}
		locked, err := o.unlock(ctx, eng, c, cfg)
		if err != nil {
			return err
		}
		files, err := o.applyFiles(ctx, eng, cfg)
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
			o.report("nothing to do")
		}
		return err
	})
}

// applyFiles applies the missing migration files and returns their number.
func (o MigrateOptions) applyFiles(ctx context.Context, eng engine, cfg *pgx.ConnConfig) (done int, err error) {
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
		o.report(fmt.Sprintf("applied migrations: %d, the last one is %s", n, path.Base(applied[n-1].Source.Path)))
	}
	return len(applied), nil
}

// Check checks whether a server may start on the database. It returns these errors:
//
//   - ErrTooOld, if this program may not work on the database.
//   - ErrBehind, if migrations are missing.
//   - ErrPrivileges, if the user may not read the schema's version.
func Check(ctx context.Context, dsn string) error {
	cfg, err := dial.Parse(dsn)
	if err != nil {
		return err
	}
	if err := checkTooOld(ctx, cfg); err != nil {
		return err
	}
	is, err := pending(ctx, cfg)
	switch {
	case denied(err):
		return unreadableReason(ctx, cfg)
	case is:
		return ErrBehind
	}
	return err
}

// checkTooOld runs CheckCompatible on its own connection. It returns only ErrTooOld. The next check reports all other errors.
func checkTooOld(ctx context.Context, cfg *pgx.ConnConfig) error {
	c, err := pgx.ConnectConfig(ctx, cfg.Copy())
	if err != nil {
		return nil
	}
	defer dial.Close(ctx, c)
	if err := CheckCompatible(ctx, c); errors.Is(err, ErrTooOld) {
		return err
	}
	return nil
}

// Times for the lease. Servers that start together wait for the first server, which takes a second. goose's default pause is 5 s, which would make
// their start much longer.
const (
	lockPoll    = 250 * time.Millisecond
	lockPolls   = 1200 // 5 minutes
	unlockPolls = 20   // 5 seconds; if the database is gone, the lease ends by itself after 30 s
)

// withLease runs work while this process has the lease.
//
// Returning the lease is a write, and a write waits for a synchronous standby. So if work finds that an earlier process has made a change already,
// this change is durable, too, when Migrate reports it. The lease is a row in a table, because a table works on both engines. On CockroachDB,
// advisory locks do not exist or do nothing.
func (o MigrateOptions) withLease(ctx context.Context, cfg *pgx.ConnConfig, work func() error) (err error) {
	db := stdlib.OpenDB(*cfg)
	defer func() { _ = db.Close() }()
	locker, err := lock.NewPostgresTableLocker(lock.WithTableLockTimeout(lockPoll, lockPolls), lock.WithTableUnlockTimeout(lockPoll, unlockPolls))
	if err != nil {
		return err
	}
	const wait = "the lease of another migration that runs now; if it was killed, its lease ends within 30 s"
	if err := o.reportWait(wait, func() error { return locker.Lock(ctx, db) }); err != nil {
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

// provider returns a goose provider for the database. The provider takes no lease of its own, because a caller that applies files already has
// Migrate's lease.
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
