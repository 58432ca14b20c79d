package limits

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/ratelimit"
	"github.com/carve-ipam/carve/internal/tenancy"
)

func TestRecheckRefusesARequestThatWaitedWhileOthersUsedTheBudget(t *testing.T) {
	t.Parallel()
	of := Limits{Work: ratelimit.New("work", 1000, ratelimit.Options{})}
	begin := func() *Budget {
		b := of.Budget("key:a/b", "", http.Header{})
		require.NoError(t, b.Begin(tenancy.Work{Writes: 1}, tenancy.Work{}))
		return &b
	}
	first, second := begin(), begin()
	require.NoError(t, first.Recheck())
	first.Add(tenancy.Work{Rows: 200_000})
	require.NoError(t, first.Recheck(), "the debt is its own")
	err := second.Recheck()
	require.True(t, ipam.IsCode(err, ipam.CodeRateLimited), err)
	require.ErrorContains(t, err, "other requests used up the caller's budget")
	refused := &ipam.Error{}
	require.ErrorAs(t, err, &refused)
	require.Positive(t, refused.RetryAfter)
}

func TestDebtLastsUntilTheBudgetHasRecovered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		of := Limits{Work: ratelimit.New("work", 1000, ratelimit.Options{Window: 2})}
		b, other := of.Budget("key:a/b", "", http.Header{}), of.Budget("key:a/c", "", http.Header{})
		require.Zero(t, b.Debt())
		b.Add(tenancy.Work{Rows: 1000}) // 3,000 units, 1,000 more than a full bucket
		require.InDelta(t, time.Second, b.Debt(), float64(10*time.Millisecond))
		require.Zero(t, other.Debt())
		<-time.After(b.Debt() + time.Millisecond)
		require.Zero(t, b.Debt())
	})
}
