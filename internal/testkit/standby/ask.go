package standby

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"
)

// AwaitFollowing returns when the standby has received all writes that the primary has now. If the standby should be synchronous, AwaitFollowing also
// waits until it is.
func (p *Pair) AwaitFollowing(ctx context.Context) error {
	const follows = `SELECT EXISTS (SELECT 1 FROM pg_stat_replication WHERE application_name = $1 AND state = 'streaming'
AND flush_lsn >= pg_current_wal_flush_lsn() AND (sync_state = 'sync' OR current_setting('synchronous_standby_names') = ''))`
	return p.await(ctx, "the standby to follow", func() (yes bool, err error) {
		err = ask(ctx, p.primaryDSN, follows, &yes, name)
		return yes, err
	})
}

// Waiting returns the number of the primary's sessions that wait in a COMMIT for the standby.
func (p *Pair) Waiting(ctx context.Context) (n int, err error) {
	err = ask(ctx, p.primaryDSN, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'", &n)
	return n, err
}

// AwaitWaiting returns when at least n sessions wait in a COMMIT for the standby.
func (p *Pair) AwaitWaiting(ctx context.Context, n int) error {
	return p.await(ctx, fmt.Sprintf("%d sessions to wait in COMMIT", n), func() (bool, error) {
		got, err := p.Waiting(ctx)
		return got >= n, err
	})
}

// Sessions returns the number of the primary's client sessions, without its own.
func (p *Pair) Sessions(ctx context.Context) (n int, err error) {
	err = ask(ctx, p.primaryDSN, "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()", &n)
	return n, err
}

// await calls condition until it returns true.
func (*Pair) await(ctx context.Context, what string, condition func() (bool, error)) error {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		ok, err := condition()
		if ok || err != nil {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, ctx.Err())
		}
	}
}

func ask(ctx context.Context, dsn, sql string, to any, args ...any) error {
	c, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	return errors.Join(c.QueryRow(ctx, sql, args...).Scan(to), c.Close(context.WithoutCancel(ctx)))
}

func execute(ctx context.Context, dsn string, statements ...string) error {
	c, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	for _, sql := range statements {
		if _, err = c.Exec(ctx, sql); err != nil {
			break
		}
	}
	return errors.Join(err, c.Close(context.WithoutCancel(ctx)))
}

// socketDir returns the directory of the socket in the DSN of an embedded database.
func socketDir(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		return ""
	}
	return u.Query().Get("host")
}
