package e2e

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/lab/herd"
)

// newHerd is agents that ask the servers of an estate.
func newHerd(t *testing.T, e *estate, rounds int) *herd.Herd {
	t.Helper()
	h := &herd.Herd{Agents: 6, Rounds: rounds, Seed: 1, Ask: func(ctx context.Context, server int, method, path string, body any) herd.Answer {
		a, err := e.sites[server%len(e.sites)].try(ctx, t, method, path, body)
		p, _ := problemOf(a)
		return herd.Answer{Status: a.status, Code: ipam.Code(p.Code), Body: a.body, Unsure: err != nil || a.status >= http.StatusInternalServerError}
	}}
	require.NoError(t, h.Furnish(t.Context()))
	return h
}

// Agents attach, renew, detach and end consumers, or die, while connections are cut around COMMIT, and both servers and the database are killed.
func TestClaimsOutliveNoneButTheirLastConsumerWhileServersAndTheDatabaseAreKilled(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	h := newHerd(t, e, 12)
	e.storm(uint64(time.Now().UnixNano())) //nolint:gosec // any
	var working sync.WaitGroup
	working.Go(func() { h.Work(t.Context()) })
	for i := range 2 {
		after(t.Context(), time.Second)
		e.killServer(t, i)
		after(t.Context(), time.Second)
		e.killDatabase(t)
	}
	working.Wait()
	e.calm()
	wrong, err := h.Judge(t.Context())
	require.NoError(t, err)
	require.Empty(t, wrong)
	t.Log(h.Tally)
	for _, what := range []string{"attached", "refused for having ended", "detached", "ended", "renewed", "expired", "released", "judged"} {
		require.Positive(t, h.Tally[what], what)
	}
	auditClean(t, e.db.DSN())
}
