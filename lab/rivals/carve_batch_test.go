package rivals

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRateCountsEveryBlockOfACall(t *testing.T) {
	t.Parallel()
	n := uint64(0)
	s := &session{many: func(_ context.Context, _ int, handed []uint64) ([]uint64, error) {
		if n += 2; n > 10 {
			return handed, errRanOut
		}
		return append(handed, n, n+1), nil
	}}
	r := &result{Clients: 1, Each: 2}
	drive(t.Context(), s, r, options{time: time.Hour, grace: time.Hour}, []uint64{0, 1})
	require.Equal(t, []int{5, 10, 12, 0}, []int{r.Operations, r.done, r.HandedOut, r.Doubles})
	require.Greater(t, r.Rate, 10/time.Hour.Seconds(), "of the time that it took, and not of what was allowed")
}

func TestCellEndsWhenItsPreparedDataIsUsedUp(t *testing.T) {
	t.Parallel()
	left := 3
	s := &session{many: func(_ context.Context, _ int, handed []uint64) ([]uint64, error) {
		if left--; left < 0 {
			return handed, errRanOut
		}
		return handed, nil
	}}
	r := &result{Clients: 1, Each: 1}
	drive(t.Context(), s, r, options{time: time.Hour, grace: time.Minute}, nil)
	require.Equal(t, []int{3, 3, 0, 0}, []int{r.Operations, r.done, r.Errors, r.HandedOut})
}

func TestBatchBodyIsJSON(t *testing.T) {
	t.Parallel()
	next := newNames(1)
	var body struct {
		Claims []struct {
			Metadata struct{ Name string }
			Spec     struct {
				PoolRef      struct{ Name string }
				PrefixLength int
			}
		}
	}
	require.NoError(t, json.Unmarshal(batchBody(3, poolName, func() string { return next.name(0) }), &body))
	require.Len(t, body.Claims, 3)
	require.Equal(t, []any{"c0-3", poolName, 32}, []any{body.Claims[2].Metadata.Name, body.Claims[2].Spec.PoolRef.Name, body.Claims[2].Spec.PrefixLength})
}

func TestAllBlocksOfABatchResponseAreFound(t *testing.T) {
	t.Parallel()
	answer := []byte(`{"claims":[{"status":{"allocatedCIDR":"10.0.0.1/32"}},{"status":{"allocatedCIDR":"10.0.1.0/32"}}]}`)
	got, err := blocksIn(answer, 2, []uint64{7})
	require.NoError(t, err)
	require.Equal(t, []uint64{7, 1, 256}, got)
	_, err = blocksIn(answer, 3, nil)
	require.ErrorContains(t, err, "no block")
	_, err = blocksIn([]byte(`"allocatedCIDR":"10.0.0.0/24"`), 1, nil)
	require.ErrorContains(t, err, "no address")
}

func TestReleaseOrderIsCompleteAndOldestTenFirst(t *testing.T) {
	t.Parallel()
	order := shuffled(25, 10)
	require.Len(t, order, 25)
	seen := map[int]bool{}
	for at, n := range order {
		require.Equal(t, at/10, n/10)
		require.False(t, seen[n], "%d twice", n)
		seen[n] = true
	}
	require.False(t, slices.IsSorted(order))
	require.Equal(t, order, shuffled(25, 10), "the same in each run")
}
