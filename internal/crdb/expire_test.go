package crdb_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/pgfault"
)

// keep stores n responses. The first one expires at the time first, and each other one a minute after the one before.
func keep(t *testing.T, h *house, n int, first time.Time) {
	t.Helper()
	for i := range n {
		at := first.Add(time.Duration(i) * time.Minute)
		svc := alloc.New(h.store, alloc.Options{Region: region, Clock: func() time.Time { return at.Add(-usecase.StoredResponseLifetime) }})
		_, err := svc.CreateSpace(admin(t), project, ipam.Space{Metadata: ipam.Metadata{Name: fmt.Sprint("s-", i)}}, usecase.Request{Key: fmt.Sprint("k-", i)})
		require.NoError(t, err)
	}
}

func TestOnlyExpiredResponsesAreDeletedInBatches(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.New(t))
	first := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	keep(t, h, 5, first)
	now := first.Add(2 * time.Minute) // three responses have expired, the third one exactly at this moment
	for _, want := range []int64{2, 1, 0} {
		n, err := h.store.ExpireStoredResponses(admin(t), now, 2)
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	c := dbtest.Connect(t, h.dsn, nil)
	require.Len(t, dbtest.Dump(t, c)["idempotency_keys"], 2)
}

func TestExpirySurvivesAFailedCommit(t *testing.T) {
	t.Parallel()
	st := newStorm(t)
	first := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	keep(t, st.direct, 3, first)
	st.proxy.SetRules(pgfault.Once(pgfault.CommitSerializationFailure()))
	n, err := st.store.ExpireStoredResponses(admin(t), first, 10)
	require.NoError(t, err)
	require.Equal(t, int64(1), n)
	st.proxy.SetRules(pgfault.Once(pgfault.CommittedAnswerLost()))
	_, err = st.store.ExpireStoredResponses(admin(t), first.Add(time.Hour), 10)
	require.True(t, ipam.IsCode(err, ipam.CodeOutcomeUnknown), "%v", err)
	n, err = st.store.ExpireStoredResponses(admin(t), first.Add(time.Hour), 10)
	require.NoError(t, err, "the next run does what is left")
	require.Zero(t, n)
}
