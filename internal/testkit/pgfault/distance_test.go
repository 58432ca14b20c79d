package pgfault

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"
)

// payments replaces the proxy's timer with one that records the requested durations.
func payments(b *bench) (take func() []time.Duration) {
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
	return func() []time.Duration {
		mu.Lock()
		defer mu.Unlock()
		out := paid
		paid = nil
		return out
	}
}

func TestRegionLatencyDelaysStatementsOfAFarRegion(t *testing.T) {
	t.Parallel()
	const near, far = 40 * time.Millisecond, 90 * time.Millisecond
	for _, m := range queryModes {
		t.Run(m.String(), func(t *testing.T) {
			t.Parallel()
			b := setup(t, mode(m))
			distances := NewDistances(map[string]time.Duration{"europe": near, "asia": far})
			b.proxy.SetRules(distances.Latency())
			require.NoError(t, b.pool.Ping(b.ctx))
			take := payments(b)
			ask := func(where string, args ...any) time.Duration {
				t.Helper()
				_, err := b.pool.Exec(b.ctx, "select id from "+b.table+" where "+where, args...)
				require.NoError(t, err)
				paid := time.Duration(0)
				for _, d := range take() {
					paid = max(paid, d)
				}
				return paid
			}
			require.Zero(t, ask("note = 'here'"))
			require.Zero(t, ask("note = $1", "here"))
			require.Equal(t, far, ask("note = 'asia'"), "a literal")
			require.Equal(t, near, ask("note = $1", "europe"), "a parameter")
			require.Equal(t, far, ask("note = any ($1)", []string{"here", "europe", "asia"}), "an array: the farthest")
			require.Equal(t, near, ask("note = any ($1::text[])", "{here,europe}"), "an array as text")
			require.Zero(t, ask("note = $1", "in europe and asia"), "a text that only speaks of it")
			distances.Set(map[string]time.Duration{"europe": 2 * near})
			require.Equal(t, 2*near, ask("note = $1", "europe"), "changed in use")
			require.Zero(t, ask("note = $1", "asia"))
		})
	}
}

func TestRegionLatencyDelaysTheCommit(t *testing.T) {
	t.Parallel()
	const far = 90 * time.Millisecond
	b := setup(t)
	b.proxy.SetRules(NewDistances(map[string]time.Duration{"asia": far}).Latency())
	take := payments(b)
	insert := "insert into " + b.table + " (id, note) values ($1, $2)"
	for i, tc := range []struct {
		region string
		paid   []time.Duration
	}{{"asia", []time.Duration{far, far}}, {"here", nil}, {"asia", []time.Duration{far, far}}} {
		require.NoError(t, pgx.BeginFunc(b.ctx, b.pool, func(tx pgx.Tx) error {
			_, err := tx.Exec(b.ctx, insert, i, tc.region)
			return err
		}))
		require.Equal(t, tc.paid, take(), "statement and COMMIT of transaction %d", i)
	}
}

func TestParametersAreDecodedAsText(t *testing.T) {
	t.Parallel()
	types := pgtype.NewMap()
	binary := func(oid uint32, v any) []byte {
		raw, err := types.Encode(oid, pgtype.BinaryFormatCode, v, nil)
		require.NoError(t, err)
		return raw
	}
	for name, tc := range map[string]struct {
		raw  []byte
		want []string
	}{
		"Text":                 {[]byte("europe"), []string{"europe"}},
		"TextArray":            {[]byte(`{europe,"asia"}`), []string{"europe", "asia"}},
		"BinaryArray":          {binary(pgtype.TextArrayOID, []string{"europe", "", "asia"}), []string{"europe", "", "asia"}},
		"ArrayWithNull":        {binary(pgtype.TextArrayOID, []*string{nil, new("asia")}), []string{"", "asia"}},
		"NoElements":           {[]byte("{}"), []string{""}},
		"TruncatedArrayIsText": {binary(pgtype.TextArrayOID, []string{"europe"})[:22], []string{string(binary(pgtype.TextArrayOID, []string{"europe"})[:22])}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, stringsIn(tc.raw))
		})
	}
}

func TestLiteralsAreReadWithoutTheirQuotes(t *testing.T) {
	t.Parallel()
	st := analyse("select 'europe', E'asia', $$here$$, $x$there$x$, \"europe2\", $1; select '', '{x,y}'")
	require.Equal(t, []string{"europe", "asia", "here", "there", "", "x", "y"}, st.literals)
	require.True(t, Event{values: values{literals: st.literals}}.Says("there"))
	require.False(t, Event{values: values{literals: st.literals}}.Says("europe2"))
}

// The deadline of a request passes during its COMMIT. The row is stored, but the client gets no response.
func TestSlowCommitOutlivesItsClientsDeadline(t *testing.T) {
	t.Parallel()
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, mode(w.mode))
			b.proxy.SetRules(SlowCommit(time.Hour))
			slow := make(chan time.Time)
			b.proxy.after = func(time.Duration) <-chan time.Time { return slow }
			ctx, deadline := context.WithCancel(b.ctx)
			result := make(chan error, 1)
			go func() { result <- w.commit(ctx, b.pool, b.insert(), "commit", 1) }()
			require.NoError(t, b.proxy.AwaitInjected(b.ctx, "SlowCommit", 1))
			deadline()
			require.ErrorIs(t, <-result, context.Canceled)
			require.Empty(t, b.stored(t), "not yet")
			for _, s := range b.proxy.live() {
				require.NoError(t, b.proxy.AwaitCancel(b.ctx, s.conn))
			}
			close(slow)
			b.proxy.SetRules()
			require.NoError(t, b.proxy.AwaitIdle(closing(b)))
			require.Equal(t, []int64{1}, b.stored(t), "and there, whatever the client was told")
		})
	}
}

// closing closes the pool's connections, so that the proxy becomes idle.
func closing(b *bench) context.Context {
	go b.pool.Close()
	return b.ctx
}
