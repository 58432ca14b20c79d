package limits_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/api/limits"
	"github.com/carve-ipam/carve/internal/ipam"
)

func TestMemoryIsLimitedByCallerProjectAndTotal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, boundedMemory) // in synthetic time, the wait for memory takes no time
}

func boundedMemory(t *testing.T) {
	m := limits.NewMemory(800) // of these bytes, a project may use 200 and a caller 100
	take := func(caller, project string, bytes int) func(int) {
		keep, err := m.Reserve(t.Context(), caller, project, bytes)
		require.NoError(t, err)
		return keep
	}
	refused := func(code ipam.Code, caller, project string, bytes int) {
		t.Helper()
		held := m.Held()
		_, err := m.Reserve(t.Context(), caller, project, bytes)
		require.Equal(t, code, ipam.CodeOf(err), "%v", err)
		require.Equal(t, held, m.Held(), "a refused request holds nothing")
	}
	first := take("a", "acme", 1000)
	require.EqualValues(t, 100, m.Held(), "no answer holds more than a caller's share")
	refused(ipam.CodeRateLimited, "a", "acme", 1)
	take("b", "acme", 60)
	take("c", "acme", 40)
	refused(ipam.CodeRateLimited, "d", "acme", 1)
	take("people", "", 50)
	first(30)
	first(90)
	require.EqualValues(t, 180, m.Held(), "an answer gives back what it does not need, and takes nothing again")
	take("a", "acme", 70)
	for _, project := range []string{"umbrella", "initech", "hooli"} {
		for _, caller := range []string{"x", "y"} {
			if m.Held() < 750 {
				take(project+caller, project, 100)
			}
		}
	}
	refused(ipam.CodeUnavailable, "z", "globex", 60)
	first(0)
	first(0)
	take("a", "acme", 30)
}

func TestRequestWaitsForReturnedMemory(t *testing.T) {
	t.Parallel()
	m := limits.NewMemory(800)
	keep, err := m.Reserve(t.Context(), "a", "acme", 100)
	require.NoError(t, err)
	got := make(chan error)
	go func() {
		_, err := m.Reserve(t.Context(), "a", "acme", 100)
		got <- err
	}()
	keep(0)
	require.NoError(t, <-got)
	require.EqualValues(t, 100, m.Held())
}

func TestNoLimitGrantsAnyMemory(t *testing.T) {
	t.Parallel()
	keep, err := (*limits.Memory)(nil).Reserve(t.Context(), "a", "acme", 1<<40)
	require.NoError(t, err)
	keep(0)
}
