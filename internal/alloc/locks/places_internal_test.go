package locks

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// waits returns when n requests wait.
func waits(t *testing.T, p *FairSemaphore, n int) {
	t.Helper()
	for ; ; runtime.Gosched() {
		p.mu.Lock()
		now := len(p.waiting)
		p.mu.Unlock()
		if now == n {
			return
		}
	}
}

func TestNoProjectGetsAllPlaces(t *testing.T) {
	t.Parallel()
	p := NewFairSemaphore(3, 2, 8)
	greedy, modest, third := ipam.NewID(), ipam.NewID(), ipam.NewID()
	come := make(chan string, 8)
	leaves := make(chan func(), 8)
	enter := func(name string, project ipam.ID) {
		go func() {
			leave, err := p.Acquire(t.Context(), project)
			if err == nil {
				leaves <- leave
				come <- name
			}
		}()
	}
	next := func() string {
		(<-leaves)()
		return <-come
	}
	for range 2 {
		enter("greedy", greedy)
		require.Equal(t, "greedy", <-come)
	}
	enter("greedy", greedy)
	waits(t, p, 1)
	enter("modest", modest)
	require.Equal(t, "modest", <-come, "there is a place that the greedy one may not have")
	enter("greedy", greedy)
	waits(t, p, 2)
	enter("third", third)
	waits(t, p, 3)
	require.Equal(t, "third", next(), "who has none comes first, however many came before")
	require.Equal(t, "greedy", next())
	require.Equal(t, "greedy", next())
	for range 3 {
		(<-leaves)()
	}
	require.Zero(t, p.busy)
	require.Empty(t, p.held)
}

func TestWaitForAPlaceEndsWithItsContext(t *testing.T) {
	t.Parallel()
	p := NewFairSemaphore(1, 1, 1)
	project := ipam.NewID()
	leave, err := p.Acquire(t.Context(), project)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		_, err := p.Acquire(ctx, project)
		gone <- err
	}()
	waits(t, p, 1)
	_, err = p.Acquire(t.Context(), project)
	require.True(t, ipam.IsCode(err, ipam.CodeRateLimited), "as many wait as may: %v", err)
	cancel()
	require.True(t, ipam.IsCode(<-gone, ipam.CodeDeadline))
	leave()
	leave, err = p.Acquire(t.Context(), project)
	require.NoError(t, err)
	leave()
}

func TestWorkWithoutAProjectIsLimitedByTheTotal(t *testing.T) {
	t.Parallel()
	p := NewFairSemaphore(3, 1, 1)
	for range 3 {
		_, err := p.Acquire(t.Context(), ipam.ID{})
		require.NoError(t, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.Acquire(ctx, ipam.NewID())
	require.True(t, ipam.IsCode(err, ipam.CodeDeadline), "all places are taken: %v", err)
}

// indebted is a budget that other requests have used up.
type indebted struct{ tenancy.Budget }

func (indebted) Recheck() error { return ipam.Errorf(ipam.CodeRateLimited, "Too much.") }

func TestSlotForWorkIsReturnedIfTheBudgetIsUsedUp(t *testing.T) {
	t.Parallel()
	p := NewFairSemaphore(1, 1, 1)
	_, err := p.AcquireForWork(tenancy.WithBudget(t.Context(), indebted{}), ipam.NewID())
	require.True(t, ipam.IsCode(err, ipam.CodeRateLimited), err)
	leave, err := p.Acquire(t.Context(), ipam.NewID())
	require.NoError(t, err)
	leave()
}
