package pgfault

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// A request times out while its COMMIT is on the way. The client must not conclude anything, because the row may still appear.
func TestHeldCommitTakesEffectAfterItsClientTimesOut(t *testing.T) {
	t.Parallel()
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, mode(w.mode))
			gate := NewGate()
			b.proxy.SetRules(On(Commit, Hold(gate)))
			ctx, giveUp := context.WithCancel(b.ctx)
			result := make(chan error, 1)
			go func() { result <- w.commit(ctx, b.pool, b.insert(), "commit", 1) }()

			held, err := gate.Await(b.ctx)
			require.NoError(t, err)
			giveUp()
			require.ErrorIs(t, <-result, context.Canceled)
			require.Empty(t, b.stored(t), "unknown, and not yet there")
			require.NoError(t, b.proxy.AwaitCancel(b.ctx, held.Conn))
			gate.Open()
			require.NoError(t, b.proxy.AwaitEnd(b.ctx, held.Conn))
			require.Equal(t, []int64{1}, b.stored(t), "unknown, and there")
		})
	}
}

func TestPartitionHoldsEverythingUntilHealed(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]struct {
		fault  func() Fault
		stored []int64
	}{
		"Partition":      {Partition, []int64{}},
		"PartitionAfter": {PartitionAfter, []int64{1}},
	} {
		for _, w := range ways {
			t.Run(name+"/"+w.name, func(t *testing.T) {
				t.Parallel()
				b := setup(t, mode(w.mode))
				seen := make(chan Event, 1)
				b.proxy.SetRules(
					Fault(func(e Event) Action {
						if e.Kind == Commit {
							seen <- e
						}
						return Action{}
					}),
					On(Commit, cut.fault()),
				)
				ctx, giveUp := context.WithCancel(b.ctx)
				result := make(chan error, 1)
				go func() { result <- w.commit(ctx, b.pool, b.insert(), "commit", 1) }()
				at := <-seen
				require.NoError(t, b.proxy.AwaitInjected(b.ctx, name, 1))
				require.Equal(t, cut.stored, b.stored(t))
				giveUp()
				require.ErrorIs(t, <-result, context.Canceled)

				b.proxy.SetRules()
				b.proxy.Heal()
				require.NoError(t, b.proxy.AwaitEnd(b.ctx, at.Conn))
				require.Equal(t, 1, b.proxy.Injected()[name])
				require.NoError(t, w.commit(b.ctx, b.pool, b.insert(), "commit", 2), "all is well again")
			})
		}
	}
}

// A client that waits long enough gets the server's response.
func TestPartitionDelaysAndLosesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, tx := b.begin(t)
	_, err := tx.Exec(b.ctx, b.insert(), 1)
	require.NoError(t, err)
	var healed atomic.Bool
	early := make(chan bool, 1)
	dial := b.proxy.upstream.config.DialFunc
	b.proxy.upstream.config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		early <- !healed.Load()
		return dial(ctx, network, address)
	}
	b.proxy.SetRules(Named("seen", executed(Action{Hold: opened()})), Named("dialled", On(Connect, Latency(1))))
	b.proxy.Partition()
	result := make(chan error, 2)
	go func() { result <- tx.Commit(b.ctx) }()
	go func() { result <- b.pool.Ping(b.ctx) }() // needs a new connection
	require.NoError(t, b.proxy.AwaitInjected(b.ctx, "seen", 1))
	require.NoError(t, b.proxy.AwaitInjected(b.ctx, "dialled", 1))
	require.Empty(t, b.stored(t))
	require.Empty(t, result)
	healed.Store(true)
	b.proxy.Heal()
	require.NoError(t, <-result)
	require.NoError(t, <-result)
	require.False(t, <-early, "a new connection does not get through either")
	require.Equal(t, []int64{1}, b.stored(t))
}

func opened() *Gate {
	g := NewGate()
	g.Open()
	return g
}

func TestOpenGateAdmitsAnyNumber(t *testing.T) {
	t.Parallel()
	g := opened()
	for range 2 * unseenArrivals {
		require.True(t, g.pass(Event{}, t.Context().Done()))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := NewGate().Await(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, NewGate().pass(Event{}, ctx.Done()))
}

// The proxy waits the latency once for each round trip, so pipelining saves time. The test replaces the proxy's timer with one that records the
// requested durations.
func TestLatencyDelaysEachRoundTripOnce(t *testing.T) {
	t.Parallel()
	const near, far = 1 * time.Millisecond, 87 * time.Millisecond
	for _, m := range queryModes {
		t.Run(m.String(), func(t *testing.T) {
			t.Parallel()
			b := setup(t, mode(m))
			var mu sync.Mutex
			var paid []time.Duration
			b.proxy.after = func(d time.Duration) <-chan time.Time {
				mu.Lock()
				defer mu.Unlock()
				paid = append(paid, d)
				now := make(chan time.Time, 1)
				now <- time.Time{}
				return now
			}
			b.proxy.SetRules(Latency(near), OnlySQL("'europe'", Latency(far)))
			send := func() []time.Duration {
				batch := &pgx.Batch{}
				for _, region := range []string{"america", "europe", "america"} {
					batch.Queue("insert into " + b.table + " (note, id) values ('" + region + "', (select count(*) from " + b.table + "))")
				}
				mu.Lock()
				paid = nil
				mu.Unlock()
				require.NoError(t, b.pool.SendBatch(b.ctx, batch).Close())
				mu.Lock()
				defer mu.Unlock()
				return paid
			}
			both := near + far
			switch first := send(); m {
			case pgx.QueryExecModeSimpleProtocol, pgx.QueryExecModeExec:
				require.Equal(t, []time.Duration{near, both}, first, "connect, batch")
			default:
				require.Equal(t, []time.Duration{near, both, both}, first, "connect, prepare, batch")
			}
			switch again := send(); m {
			case pgx.QueryExecModeDescribeExec:
				require.Equal(t, []time.Duration{both, both}, again, "prepare, batch")
			default:
				require.Equal(t, []time.Duration{both}, again, "batch")
			}
			mu.Lock()
			paid = nil
			mu.Unlock()
			require.NoError(t, b.pool.Ping(b.ctx))
			require.Equal(t, []time.Duration{near}, paid, "and far away is forgotten")
		})
	}
}

func TestCloseEndsHeldAndPartitionedConnections(t *testing.T) {
	t.Parallel()
	b := setup(t)
	gate := NewGate()
	b.proxy.SetRules(On(Commit, Hold(gate)))
	result := make(chan error, 2)
	go func() { result <- ways[0].commit(b.ctx, b.pool, b.insert(), "commit", 1) }()
	_, err := gate.Await(b.ctx)
	require.NoError(t, err)
	b.proxy.Partition()
	go func() { result <- b.pool.Ping(b.ctx) }()

	b.proxy.Close()

	require.Error(t, <-result)
	require.Error(t, <-result)
	require.NoError(t, b.proxy.AwaitIdle(b.ctx))
	require.Empty(t, b.stored(t))
}
