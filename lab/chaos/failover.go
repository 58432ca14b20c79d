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

// database is the database of a run. Servers get one DSN for each of its hosts.
type database struct {
	dsn   string // for operators
	hosts []string
	pair  *standby.Pair // nil without a standby
	drop  func(ctx context.Context) error
}

// prepare makes the run's database. Normally it is a new database in the shared cluster. A mix with a failover gets a primary with a standby of its
// own.
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

// Times for which a failover waits while the standby is unreachable. With stalled, a server that cancels an unanswered COMMIT does so in that time.
// With a crash, the primary crashes after crashed. After the restart, clients can read its data for unsynced before it dies.
const (
	stalled  = 20 * time.Second
	crashed  = 3 * time.Second
	unsynced = 5 * time.Second
)

// failOver cuts the standby off and waits until COMMITs wait for it. It then gives clients time to repeat their requests. At last the primary dies
// and the standby is promoted. If restart is set, the primary crashes and starts again before that, while the standby is still unreachable. During
// that time, every client can read commits that only the primary has on its disk.
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
