package e2e

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/lab/herd"
)

// newHerd returns agents that send their requests to the servers of an estate.
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

// Agents attach, renew, detach and end consumers, or die. Meanwhile connections are cut around COMMIT, and both servers and the database are killed.
func TestClaimsEndWithTheirLastConsumerDespiteKilledServersAndDatabase(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	h := newHerd(t, e, 12)
	e.storm(uint64(time.Now().UnixNano()))
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

// This is scenario 24, with kill -9. A consumer of many claims ends. The server that detaches it is killed in the middle of the work, and later the
// other server too. The remaining server must finish the work.
func TestConsumerIsDrainedByOthersWhenItsServerIsKilled(t *testing.T) {
	t.Parallel()
	const batches, each = 2, 1000
	e := newEstate(t)
	e.furnish(t)
	c := e.sites[0]
	for i := range batches {
		var claims []obj
		for j := range each {
			spec := from("p", 32)
			spec["whenUnused"], spec["consumers"] = "Delete", []obj{{"uid": "vm"}}
			claims = append(claims, named(fmt.Sprintf("c%d-%d", i, j), spec))
		}
		c.created(t, c.do(t, http.MethodPost, at("claim-batches"), obj{"claims": claims}))
	}
	left := func() (n int) {
		require.True(t, became(t.Context(), waitLimit, func() bool {
			for _, site := range e.sites {
				if a, err := site.try(t.Context(), t, http.MethodGet, at("realms", "default", "consumers", "vm"), nil); err == nil && a.ok() {
					n = len(all[client.IPClaim](t, site, at("claims")+"?consumer=vm"))
					return true
				}
			}
			return false
		}))
		return n
	}
	kills, was := 0, batches*each
	var ending sync.WaitGroup
	ending.Go(func() {
		_, _ = c.try(t.Context(), t, http.MethodDelete, at("realms", "default", "consumers", "vm"), nil)
	})
	for deadline := time.Now().Add(waitLimit); time.Now().Before(deadline); pause(t.Context()) {
		now := left()
		if now == 0 {
			break
		}
		if now < was-50 { // the work advances, so the kill falls between two of its transactions
			e.killServer(t, kills%2)
			kills++
			was = left()
		}
	}
	ending.Wait()
	require.Zero(t, left())
	require.Greater(t, kills, 1, "the kills hit the drain")
	require.Empty(t, all[client.IPClaim](t, c, at("claims")))
	released := map[string]int{}
	for _, event := range all[client.AuditEvent](t, c, at("audit-events")) {
		if event.Resource.Kind == "IPClaim" && (len(event.After) == 0 || string(event.After) == "null") {
			released[event.Resource.Name]++
		}
	}
	require.Len(t, released, batches*each)
	for name, n := range released {
		require.Equal(t, 1, n, name)
	}
	auditClean(t, e.db.DSN())
}
