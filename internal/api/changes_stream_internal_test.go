package api

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/feed"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// owing is a budget that is used up for a certain time.
type owing struct {
	tenancy.Budget

	wait time.Duration
}

func (o owing) Debt() time.Duration { return o.wait }

func TestStreamPausesWhileItsBudgetIsUsedUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &stream{follower: &feed.Follower{}} // without a hub, so that a read would panic
		ctx := tenancy.WithBudget(t.Context(), owing{wait: 3 * time.Second})
		for _, c := range []struct{ wait, least, most time.Duration }{
			{time.Minute, 3 * time.Second, 4 * time.Second},
			{time.Second, time.Second, time.Second}, // the next bookmark or check of rights is due
		} {
			began := time.Now()
			changes, err := s.next(ctx, c.wait)
			require.NoError(t, err)
			require.Empty(t, changes)
			require.GreaterOrEqual(t, time.Since(began), c.least)
			require.LessOrEqual(t, time.Since(began), c.most)
		}
	})
}
