// Package standby runs a PostgreSQL with a physical standby, so that a test can see what survives a failover:
//
//	pair, err := standby.Start(ctx, standby.Options{Dir: dir})
//	... migrate pair.PrimaryDSN(), serve from pair.DSN() ...
//	pair.Stall()                          // what the primary writes reaches the standby no more: no COMMIT is confirmed
//	err = pair.AwaitWaiting(ctx, 1)       // somebody's COMMIT waits for the standby
//	err = pair.KillPrimary(ctx)           // kill -9
//	err = pair.Promote(ctx)               // the standby takes writes when this returns
//
// The standby is synchronous, unless [Options] say otherwise: PostgreSQL acknowledges a COMMIT when the standby has it on disk, and what was
// acknowledged is there after Promote. What was not may be there or not, and a test that stalls the way between both knows that it is not.
//
// Both are embedded databases (package devdb): they listen on unix sockets alone, and end with the process that started them. The primary's
// log travels to the standby through a forwarder on loopback, which is what Stall and Resume act upon: all sockets stay open, and nothing arrives.
package standby

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/carve-ipam/carve/internal/devdb"
)

// name is what the standby calls itself, and what the primary waits for.
const name = "carve_standby"

// Options of a pair.
type Options struct {
	Dir            string // for both data directories; it has to exist
	Asynchronous   bool   // the primary does not wait for the standby
	MaxConnections int    // of each; 0 means 100
}

// Pair is a primary and its standby. Its methods are for one goroutine at a time, but for Stall and Resume.
type Pair struct {
	options          Options
	link             *link
	primary, standby *devdb.DB
	primaryDSN       string // stays when the primary is gone
}

// Start makes both in new directories below Options.Dir, and returns when the standby follows the primary. ctx bounds the start alone.
func Start(ctx context.Context, o Options) (_ *Pair, err error) {
	p := &Pair{options: o}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close(context.WithoutCancel(ctx)))
		}
	}()
	if p.primary, err = devdb.Start(ctx, p.config("primary")); err != nil {
		return p, err
	}
	if p.link, err = newLink(ctx, p.primary.DSN()); err != nil {
		return p, err
	}
	// An embedded database is SERIALIZABLE by default, which a standby does not know. Carve says what it wants in every session.
	if err := execute(ctx, p.primary.DSN(), "ALTER ROLE postgres SET default_transaction_isolation = 'repeatable read'"); err != nil {
		return p, err
	}
	// A copy of a cluster that is at rest is a base backup.
	if err := p.primary.Stop(ctx); err != nil {
		return p, err
	}
	if err = copyCluster(p.dir("primary"), p.dir("standby")); err != nil {
		return p, fmt.Errorf("copying the primary: %w", err)
	}
	if err := follow(p.dir("standby"), p.link.address()); err != nil {
		return p, err
	}
	if p.primary, err = devdb.Start(ctx, p.config("primary")); err != nil {
		return p, err
	}
	p.primaryDSN = p.primary.DSN()
	p.link.to(p.primaryDSN)
	if p.standby, err = devdb.Start(ctx, p.config("standby")); err != nil {
		return p, err
	}
	if !o.Asynchronous {
		if err := execute(ctx, p.primaryDSN, "ALTER SYSTEM SET synchronous_standby_names = '"+name+"'", "SELECT pg_reload_conf()"); err != nil {
			return p, err
		}
	}
	err = p.AwaitFollowing(ctx)
	return p, err
}

func (p *Pair) dir(of string) string { return filepath.Join(p.options.Dir, of) }

func (p *Pair) config(of string) devdb.Config {
	return devdb.Config{DataDir: p.dir(of), MaxConnections: p.options.MaxConnections}
}

// PrimaryDSN names the database `carve` on what is the primary at the start, whatever became of it.
func (p *Pair) PrimaryDSN() string { return p.primaryDSN }

// StandbyDSN names the same database on what is the standby at the start.
func (p *Pair) StandbyDSN() string { return p.standby.DSN() }

// DSN names both hosts, and asks for whichever of them is the primary.
func (p *Pair) DSN() string {
	hosts := make([]string, 0, 2)
	for _, dsn := range []string{p.PrimaryDSN(), p.StandbyDSN()} {
		hosts = append(hosts, socketDir(dsn))
	}
	q := url.Values{"host": {strings.Join(hosts, ",")}, "port": {"5432,5432"}, "user": {"postgres"}, "target_session_attrs": {"primary"}}
	return "postgres:///carve?" + q.Encode()
}

// Stall lets nothing through between the primary and the standby any more, in either direction, and keeps every socket open.
func (p *Pair) Stall() { p.link.stall() }

// Resume ends a stall. Everything that was on its way arrives.
func (p *Pair) Resume() { p.link.resume() }

// KillPrimary ends the primary by SIGKILL, and returns when nothing of it is left.
func (p *Pair) KillPrimary(ctx context.Context) error { return Kill(ctx, p.primary, p.dir("primary")) }

// Kill ends a database by SIGKILL, and returns when nothing of it is left; dir is its data directory.
func Kill(ctx context.Context, db *devdb.DB, dir string) error {
	pid, err := postmaster(dir)
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("killing the database: %w", err)
	}
	select {
	case <-db.Exited():
	case <-ctx.Done():
		return ctx.Err()
	}
	return db.Stop(ctx) // waits for the processes that it had forked
}

// StartPrimary starts the primary again on its data, after KillPrimary. It comes up whether the standby is there or not.
func (p *Pair) StartPrimary(ctx context.Context) (err error) {
	if p.primary, err = devdb.Start(ctx, p.config("primary")); err != nil {
		return err
	}
	if p.primary.DSN() != p.primaryDSN {
		return fmt.Errorf("the primary moved from %s to %s", p.primaryDSN, p.primary.DSN())
	}
	return nil
}

// Promote makes the standby a primary, and returns when it takes writes. Who calls it without KillPrimary has two primaries then.
func (p *Pair) Promote(ctx context.Context) error {
	var done bool
	if err := ask(ctx, p.StandbyDSN(), "SELECT pg_promote(true, 60)", &done); err != nil {
		return err
	}
	if !done {
		return errors.New("the standby was not promoted within a minute")
	}
	return nil
}

// Close stops both and removes their directories.
func (p *Pair) Close(ctx context.Context) error {
	var errs []error
	if p.link != nil {
		p.link.close()
	}
	for _, db := range []*devdb.DB{p.standby, p.primary} {
		if db != nil {
			errs = append(errs, db.Stop(ctx))
		}
	}
	for _, of := range []string{"primary", "standby"} {
		if _, err := os.Stat(p.dir(of)); err == nil {
			errs = append(errs, devdb.Remove(p.dir(of)))
		}
	}
	return errors.Join(errs...)
}
