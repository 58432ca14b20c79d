package tenancy_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/tenancy"
)

type limited struct{ tenancy.Attempts }

func TestVisitBehavesLikeItsContexts(t *testing.T) {
	t.Parallel()
	type other struct{}
	above, cancel := context.WithCancel(context.WithValue(t.Context(), other{}, 1))
	visit := new(tenancy.NewRequestContext(above, tenancy.Origin{RequestID: "r"}))
	require.Equal(t, "r", tenancy.OriginOf(visit).RequestID)
	require.Equal(t, 1, visit.Value(other{}))
	_, known := tenancy.From(visit)
	require.False(t, known)
	require.NotEqual(t, limited{}, tenancy.AttemptsOf(visit))

	visit.SetAttempts(limited{}, true)
	require.Equal(t, limited{}, tenancy.AttemptsOf(visit))

	alice := tenancy.Principal{Subject: "alice", Method: "oidc"}
	visit.SetPrincipal(alice)
	who, known := tenancy.From(visit)
	require.True(t, known)
	require.Equal(t, alice, who)
	require.NotEqual(t, limited{}, tenancy.AttemptsOf(visit), "they were for finding out who it is")

	t.Run("InnerPrincipalWins", func(t *testing.T) {
		who, _ := tenancy.From(tenancy.WithPrincipal(visit, tenancy.System()))
		require.Equal(t, tenancy.System(), who)
		who, _ = tenancy.From(visit)
		require.Equal(t, alice, who)
	})
	t.Run("OuterPrincipalIsVisibleUntilReplaced", func(t *testing.T) {
		inner := new(tenancy.NewRequestContext(tenancy.WithPrincipal(t.Context(), tenancy.System()), tenancy.Origin{}))
		who, _ := tenancy.From(inner)
		require.Equal(t, tenancy.System(), who)
		inner.SetPrincipal(alice)
		who, _ = tenancy.From(inner)
		require.Equal(t, alice, who)
	})
	t.Run("VisitIsFoundThroughWrappers", func(t *testing.T) {
		found, ok := tenancy.RequestContextOf(context.WithValue(visit, other{}, 2))
		require.True(t, ok)
		require.Same(t, visit, found)
		_, ok = tenancy.RequestContextOf(t.Context())
		require.False(t, ok)
	})
	t.Run("VisitEndsWithItsParent", func(t *testing.T) {
		below, done := context.WithTimeout(visit, time.Hour)
		defer done()
		require.NoError(t, below.Err())
		cancel()
		<-below.Done()
		require.ErrorIs(t, visit.Err(), context.Canceled)
	})
}
