// Package standby runs a PostgreSQL with a physical standby, so that a test can check which data survives a failover:
//
//	pair, err := standby.Start(ctx, standby.Options{Dir: dir})
//	... migrate pair.PrimaryDSN(), serve from pair.DSN() ...
//	pair.Stall()                          // the standby no longer receives the primary's writes: no COMMIT is confirmed
//	err = pair.AwaitWaiting(ctx, 1)       // a COMMIT waits for the standby
//	err = pair.KillPrimary(ctx)           // kill -9
//	err = pair.Promote(ctx)               // the standby accepts writes when this returns
//
// The standby is synchronous by default. PostgreSQL acknowledges a COMMIT when the standby has it on disk, so an acknowledged transaction exists
// after Promote. A transaction that was not acknowledged may or may not exist. If the link was stalled before its COMMIT, it does not exist.
//
// Both servers are embedded databases (package devdb). They listen only on unix sockets, and end with the process that started them. The primary's
// log reaches the standby through a forwarder on loopback. Stall and Resume control the forwarder. During a stall all sockets stay open and no byte
// arrives.
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

// name is the standby's name. The primary uses it to identify the standby for which it waits.
const name = "carve_standby"

// Options configures a pair.
type Options struct {
	Dir            string // parent of both data directories; it must exist
	Asynchronous   bool   // the primary does not wait for the standby
	MaxConnections int    // limit of each server; 0 means 100
}

// Pair is a primary and its standby. Only Stall and Resume may run at the same time as another method.
type Pair struct {
	options          Options
	link             *link
	primary, standby *devdb.DB
	primaryDSN       string // stays after the end of the primary
}

// Start makes both servers in new directories below Options.Dir, and returns when the standby follows the primary. ctx limits only the start.
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
	// An embedded database is SERIALIZABLE by default, which a standby does not support. Carve sets its own level in every session.
	if err := execute(ctx, p.primary.DSN(), "ALTER ROLE postgres SET default_transaction_isolation = 'repeatable read'"); err != nil {
		return p, err
	}
	// A copy of a stopped cluster is a base backup.
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
	p.link.setPrimary(p.primaryDSN)
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

// PrimaryDSN returns the DSN of the database `carve` on the first primary, even after a failover.
func (p *Pair) PrimaryDSN() string { return p.primaryDSN }

// StandbyDSN returns the DSN of the same database on the first standby.
func (p *Pair) StandbyDSN() string { return p.standby.DSN() }

// DSN returns a DSN with both hosts. It connects to the current primary.
func (p *Pair) DSN() string {
	hosts := make([]string, 0, 2)
	for _, dsn := range []string{p.PrimaryDSN(), p.StandbyDSN()} {
		hosts = append(hosts, socketDir(dsn))
	}
	q := url.Values{"host": {strings.Join(hosts, ",")}, "port": {"5432,5432"}, "user": {"postgres"}, "target_session_attrs": {"primary"}}
	return "postgres:///carve?" + q.Encode()
}

// Stall stops all bytes between the primary and the standby, in both directions, and keeps every socket open.
func (p *Pair) Stall() { p.link.stall() }

// Resume ends a stall. All delayed bytes arrive.
func (p *Pair) Resume() { p.link.resume() }

// KillPrimary kills the primary with SIGKILL and returns when all its processes have ended.
func (p *Pair) KillPrimary(ctx context.Context) error { return Kill(ctx, p.primary, p.dir("primary")) }

// Kill kills a database with SIGKILL and returns when all its processes have ended. dir is its data directory.
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
	return db.Stop(ctx) // waits for the processes that the database forked
}

// StartPrimary restarts the primary on its data after KillPrimary. It needs no standby.
func (p *Pair) StartPrimary(ctx context.Context) (err error) {
	if p.primary, err = devdb.Start(ctx, p.config("primary")); err != nil {
		return err
	}
	if p.primary.DSN() != p.primaryDSN {
		return fmt.Errorf("the primary moved from %s to %s", p.primaryDSN, p.primary.DSN())
	}
	return nil
}

// Promote makes the standby a primary and returns when it accepts writes. Without KillPrimary before it, there are two primaries.
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

// Close stops both servers and removes their directories.
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
