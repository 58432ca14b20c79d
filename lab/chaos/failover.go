package chaos

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/carve-ipam/carve/internal/testkit/standby"
)

// database is where the servers of a run have their data, and how they reach it: one way for each host.
type database struct {
	dsn   string // for operators
	hosts []string
	pair  *standby.Pair // nil when there is no standby
	drop  func(ctx context.Context) error
}

// prepare makes the database of the run: of its own in the cluster that runs share, or a primary and its standby, which both end with the run.
func (run *run) prepare(ctx context.Context) (database, error) {
	if len(run.plan.Weather.Failover) == 0 {
		dsn, err := run.cluster.create(ctx, run.plan.Regions)
		return database{dsn, []string{dsn}, nil, func(ctx context.Context) error { return run.cluster.drop(ctx, dsn) }}, err
	}
	dir := filepath.Join(run.cluster.dir, fmt.Sprintf("pair-%d", run.plan.Seed))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return database{}, err
	}
	pair, err := standby.Start(ctx, standby.Options{Dir: dir, MaxConnections: maxSessions})
	if err != nil {
		return database{}, err
	}
	db := database{pair.DSN(), []string{pair.PrimaryDSN(), pair.StandbyDSN()}, pair, pair.Close}
	out, err := run.cluster.ipamctl(ctx, "migrate", "--database-url="+db.dsn, "--region="+run.plan.Regions[0])
	if err != nil {
		return db, fmt.Errorf("ipamctl migrate: %w\n%s", err, out)
	}
	return db, nil
}

// several is a DSN that names all of several, and asks for whichever is the primary.
func several(dsns []string) (string, error) {
	if len(dsns) == 1 {
		return dsns[0], nil
	}
	hosts := make([]string, len(dsns))
	var all *url.URL
	for i, dsn := range dsns {
		u, err := url.Parse(dsn)
		if err != nil {
			return "", err
		}
		hosts[i], all = u.Host, u
	}
	all.Host = strings.Join(hosts, ",")
	q := all.Query()
	q.Set("target_session_attrs", "primary")
	all.RawQuery = q.Encode()
	return all.String(), nil
}

// How long the standby is not reached before the primary dies. A server that gives up an unanswered COMMIT by cancelling it does so within the first; what the
// primary has after it crashed and was started again its clients find within the second.
const (
	stalled  = 20 * time.Second
	crashed  = 3 * time.Second
	unsynced = 5 * time.Second
)

// failOver lets nothing reach the standby any more, waits until COMMITs wait for it, and until their clients have repeated what they asked for; then the primary
// dies, and the standby takes its place. With restart the primary crashes before, and is started again while the standby is still not reached: what it has on disk
// is there then for everybody to see.
func (run *run) failOver(ctx context.Context, restart bool) error {
	pair := run.db.pair
	pair.Stall()
	soon, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := pair.AwaitWaiting(soon, 1); err != nil {
		return err
	}
	if restart {
		wait(ctx, crashed)
		if err := pair.KillPrimary(ctx); err != nil {
			return err
		}
		if err := pair.StartPrimary(ctx); err != nil {
			return err
		}
		run.ledger.note("", "the primary is there again, and the standby is not")
		wait(ctx, unsynced)
	} else {
		wait(ctx, stalled)
	}
	if err := pair.KillPrimary(ctx); err != nil {
		return err
	}
	run.ledger.note("", "the primary is dead")
	if err := pair.Promote(ctx); err != nil {
		return err
	}
	run.ledger.note("", "the standby is the primary")
	return nil
}
