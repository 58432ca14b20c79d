package rivals

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/lab/postgres"
)

func TestDriveCountsBlocksHandedOutTwice(t *testing.T) {
	t.Parallel()
	var n atomic.Uint64
	s := &session{first: 10, hand: func(context.Context, int) (uint64, error) {
		switch i := n.Add(1); {
		case i == 3:
			return 11, nil // the first call returned this number too
		case i == 4:
			return 9, nil // this number was already held
		case i > 1000: // limits the calls and not the time, because a slow machine may do nothing in a short time
			n.Add(^uint64(0))
			return 0, errRanOut
		default:
			return 10 + i, nil
		}
	}}
	r := &result{Clients: 4, Each: 1}
	drive(t.Context(), s, r, options{time: time.Hour, grace: time.Minute}, []uint64{10})
	require.Equal(t, 2, r.Doubles)
	require.Equal(t, int(n.Load())+1, r.HandedOut)
	require.Zero(t, r.Errors)
}

func TestDriveCountsErrorsAndCutOffCallsSeparately(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	started, calls := make(chan struct{}), 0
	s := &session{hand: func(ctx context.Context, client int) (uint64, error) {
		if client == 0 {
			close(started)
			<-ctx.Done() // this call never ends by itself
			return 0, ctx.Err()
		}
		if calls++; calls > 1 {
			<-started
			cancel()
			<-ctx.Done()
		}
		return 0, errors.New("refused")
	}}
	r := &result{Clients: 2, Each: 1}
	drive(ctx, s, r, options{time: time.Hour, grace: time.Hour}, []uint64{1})
	require.Equal(t, 2, r.CutOff)
	require.Equal(t, 1, r.Errors)
	require.Equal(t, "refused", r.Error)
	require.Equal(t, 1, r.HandedOut, "the probe alone")
}

func TestPlanMeasuresEveryGoalsCellsOnceARound(t *testing.T) {
	t.Parallel()
	for _, wanted := range [][]compared{onPostgreSQL, onCockroachDB} {
		cells := plan(wanted, 1, time.Second)
		seen := map[cell]bool{}
		for _, c := range cells {
			require.NotNil(t, c.contestant)
			require.False(t, seen[c], "%s twice", c.contestant.name)
			seen[c] = true
		}
		for _, w := range wanted {
			for _, name := range []string{w.of, w.to} {
				require.True(t, name == "" || slices.ContainsFunc(cells, func(c cell) bool {
					return c.contestant.name == name && c.clients == w.clients && c.held == w.held && c.round == 1 && c.lasts == time.Second
				}), "%s: %s is not measured", w.title(), name)
			}
		}
	}
	require.Len(t, plan(onPostgreSQL[:1], 0, 0), 2)
	require.Equal(t, httpInsert, plan(onPostgreSQL[:1], 0, 0)[0].contestant.name)
}

func TestMediansCombineTheRoundsOfACell(t *testing.T) {
	t.Parallel()
	got := medians([]*result{
		{Contestant: "a", Clients: 8, Rate: 100, P95: 3, Errors: 1},
		{Contestant: "b", Clients: 8, Rate: 7, Skipped: "slow"},
		{Contestant: "a", Clients: 8, Round: 1, Rate: 500, P95: 1, Doubles: 2, Broken: "an address twice"},
		{Contestant: "a", Clients: 8, Round: 2, Rate: 200, P95: 2},
		{Contestant: "a", Clients: 1, Rate: 10},
	})
	require.Len(t, got, 3)
	require.Equal(t, &result{Contestant: "a", Clients: 8, Rate: 200, P95: 2, Errors: 1, Doubles: 2, Broken: "an address twice"}, got[0])
	require.Equal(t, &result{Contestant: "b", Clients: 8, Skipped: "slow"}, got[1], "what was skipped has no rate")
	require.InDelta(t, 10, got[2].Rate, 0)
}

// Each contestant must be measurable. Otherwise a fault would show only after the measurement of the other cells.
func TestEveryContestantHandsOutFreeBlocks(t *testing.T) {
	t.Parallel()
	d, err := postgres.Start(t.Context(), postgres.Options{Dir: filepath.Join(t.TempDir(), "data"), Connections: 100, Volatile: true})
	require.NoError(t, err)
	db := &database{Database: d, seeded: map[string]string{}}
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	o := options{time: 500 * time.Millisecond, grace: time.Minute, bound: time.Minute, setup: time.Minute}
	seen := map[cell]bool{}
	for _, c := range plan(onPostgreSQL, 0, o.time) {
		c.clients, c.held = 2, min(c.held, 5)
		if seen[c] {
			continue
		}
		seen[c] = true
		r := measure(t.Context(), db, c, o)
		require.Zero(t, r.wrong(), "%+v", r)
		require.Positive(t, r.done, r.Contestant)
		require.True(t, r.WAL > 0 || r.Contestant == refuse, "%s wrote nothing", r.Contestant)
	}
}

// A wrong flag must be refused before anything is measured.
func TestInvalidFlagsAreRefused(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{"-rows=many", "-rounds=0", "-time=0s", "-only=(", "rest"} {
		_, err := parse([]string{wrong})
		require.Error(t, err, wrong)
	}
	o, err := parse([]string{"-rows=10M", "-only=64 clients"})
	require.NoError(t, err)
	require.True(t, o.only.MatchString(onPostgreSQL[4].title()))
}
