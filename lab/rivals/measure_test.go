package rivals

import (
	"context"
	"errors"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDriveCountsWhatWasHandedOutTwice(t *testing.T) {
	t.Parallel()
	var n atomic.Uint64
	s := &session{first: 10, hand: func(context.Context, int) (uint64, error) {
		switch i := n.Add(1); i {
		case 3:
			return 11, nil // as did the first
		case 4:
			return 9, nil // which was held
		default:
			return 10 + i, nil
		}
	}}
	r := &result{Clients: 4, Each: 1}
	drive(t.Context(), s, r, options{time: 20 * time.Millisecond, grace: time.Minute}, []uint64{10})
	require.Equal(t, 2, r.Doubles)
	require.Equal(t, int(n.Load())+1, r.HandedOut)
	require.Zero(t, r.Errors)
}

func TestDriveTellsErrorsFromWhatItCutOff(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	started, calls := make(chan struct{}), 0
	s := &session{hand: func(ctx context.Context, client int) (uint64, error) {
		if client == 0 {
			close(started)
			<-ctx.Done() // never ends by itself
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

func TestPlanTakesTurns(t *testing.T) {
	t.Parallel()
	seen := map[cell]bool{}
	for _, c := range plan(options{only: everything}) {
		at := cell{clients: c.clients, held: c.held}
		key := cell{contestant: c.contestant, clients: c.clients, held: c.held}
		require.False(t, seen[key], "%s twice", c.contestant.name)
		seen[key] = true
		require.LessOrEqual(t, at.clients, 64)
	}
	require.Len(t, seen, len(plan(options{only: everything})))
	require.Len(t, plan(options{only: regexp.MustCompile("^INSERT$")}), 4)
	require.Len(t, plan(options{only: regexp.MustCompile("^Carve, HTTP$")}), 10)
}

func TestRatiosAreOfTheSameCell(t *testing.T) {
	t.Parallel()
	floor := &result{Kind: kindFloor, Clients: 8, Rate: 100}
	rival := &result{Kind: kindRival, Bits: addressBits, Clients: 8, Held: 10, Rate: 50}
	network := &result{Kind: kindRival, Bits: networkBits, Clients: 8, Rate: 10}
	dead := &result{Kind: kindRival, Bits: addressBits, Clients: 8}
	compareWithCarve([]*result{
		floor, rival, network, dead,
		{Kind: kindCarve, Bits: addressBits, Clients: 8, Rate: 300},
		{Kind: kindCarveHTTP, Bits: addressBits, Clients: 8, Rate: 200},
		{Kind: kindCarve, Bits: addressBits, Clients: 8, Held: 10, Rate: 250},
		{Kind: kindCarve, Bits: networkBits, Clients: 8, Rate: 80},
	})
	require.InDelta(t, 3, floor.InProcess, 1e-9)
	require.InDelta(t, 2, floor.OverHTTP, 1e-9)
	require.InDelta(t, 5, rival.InProcess, 1e-9)
	require.Zero(t, rival.OverHTTP)
	require.InDelta(t, 8, network.InProcess, 1e-9)
	require.Zero(t, dead.InProcess, "nothing is so many times nothing")
}

func TestBatchesStandBesideBatches(t *testing.T) {
	t.Parallel()
	floor := &result{Kind: kindFloor, Task: taskBatch, Clients: 8, Rate: 100}
	release := &result{Kind: kindCarveHTTP, Task: taskRelease, Bits: addressBits, Clients: 8, Rate: 1}
	compareWithCarve([]*result{
		floor, release,
		{Kind: kindCarve, Task: taskOne, Bits: addressBits, Clients: 8, Rate: 300},
		{Kind: kindCarve, Task: taskBatch, Bits: addressBits, Clients: 8, Rate: 30},
		{Kind: kindCarveHTTP, Task: taskBatch, Bits: addressBits, Clients: 8, Rate: 20},
	})
	require.InDelta(t, 0.3, floor.InProcess, 1e-9)
	require.InDelta(t, 0.2, floor.OverHTTP, 1e-9)
	require.Zero(t, release.InProcess, "a release is no claim")
}
