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

// database is the database of a run and the DSNs by which the servers reach it, one for each host.
type database struct {
	dsn   string // for operators
	hosts []string
	pair  *standby.Pair // nil without a standby
	drop  func(ctx context.Context) error
}

// prepare makes the run's database: a new one in the shared cluster, or a primary with a standby, which both end with the run.
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

// several returns a DSN that names all hosts and asks for the primary.
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

// Times for which the standby is unreachable before the primary dies. A server that cancels an unanswered COMMIT does so within stalled. After a
// crash and a restart of the primary, clients find its data within crashed.
const (
	stalled  = 20 * time.Second
	crashed  = 3 * time.Second
	unsynced = 5 * time.Second
)

// failOver cuts the standby off, waits until COMMITs wait for it, and gives clients time to repeat their requests. Then the primary dies and the
// standby is promoted. With restart, the primary first crashes and starts again while the standby is still unreachable: every client can then read
// the commits that are on its disk.
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
