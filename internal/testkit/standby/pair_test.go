package standby_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/testkit/standby"
)

func start(t *testing.T, o standby.Options) *standby.Pair {
	t.Helper()
	var err error
	o.Dir, err = os.MkdirTemp("", "pair") // the path of a socket must be short
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(o.Dir) })
	p, err := standby.Start(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close(context.Background()) }) // the primary may be dead
	return p
}

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

func rows(t *testing.T, dsn string) (n int) {
	t.Helper()
	require.NoError(t, connect(t, dsn).QueryRow(t.Context(), "SELECT count(*) FROM things").Scan(&n))
	return n
}

func TestAcknowledgedWritesSurviveAFailoverAndWaitingOnesAreHidden(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	p := start(t, standby.Options{})
	c := connect(t, p.DSN())
	_, err := c.Exec(ctx, "CREATE TABLE things (id INT8 PRIMARY KEY)")
	require.NoError(t, err)
	_, err = c.Exec(ctx, "INSERT INTO things VALUES (1)")
	require.NoError(t, err)

	p.Stall()
	result := make(chan error, 1)
	go func() {
		_, err := c.Exec(ctx, "INSERT INTO things VALUES (2)")
		result <- err
	}()
	require.NoError(t, p.AwaitWaiting(ctx, 1))
	require.Equal(t, 1, rows(t, p.PrimaryDSN()), "nobody sees what waits")
	require.NoError(t, p.KillPrimary(ctx))
	require.Error(t, <-result)
	require.NoError(t, p.Promote(ctx))
	require.Equal(t, 1, rows(t, p.DSN()))
	_, err = connect(t, p.DSN()).Exec(ctx, "INSERT INTO things VALUES (3)")
	require.NoError(t, err, "the standby takes writes, and waits for nobody")
}

func TestStalledStandbyLosesNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	p := start(t, standby.Options{})
	c := connect(t, p.PrimaryDSN())
	p.Stall()
	result := make(chan error, 1)
	go func() {
		_, err := c.Exec(ctx, "CREATE TABLE things (id INT8 PRIMARY KEY)")
		result <- err
	}()
	require.NoError(t, p.AwaitWaiting(ctx, 1))
	p.Resume()
	require.NoError(t, <-result)
	require.NoError(t, p.AwaitFollowing(ctx))
	n, err := p.Waiting(ctx)
	require.NoError(t, err)
	require.Zero(t, n)

	require.NoError(t, p.KillPrimary(ctx))
	require.NoError(t, p.StartPrimary(ctx))
	require.NoError(t, p.AwaitFollowing(ctx), "the standby finds the primary again")
}

func TestAsynchronousStandbyIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	p := start(t, standby.Options{Asynchronous: true})
	p.Stall()
	_, err := connect(t, p.PrimaryDSN()).Exec(ctx, "CREATE TABLE things (id INT8 PRIMARY KEY)")
	require.NoError(t, err)
	require.NoError(t, p.KillPrimary(ctx))
	require.NoError(t, p.Promote(ctx))
	_, err = connect(t, p.DSN()).Exec(ctx, "SELECT 1 FROM things")
	require.ErrorContains(t, err, "does not exist", "it was acknowledged, and is lost")
}
