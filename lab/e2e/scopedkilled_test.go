package e2e

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// The server is killed during the first claims of many scopes and started again. Acknowledged claims must exist. Clients repeat other requests by
// key, and each key must take effect once. Then the audit must find no pool without its claim and no lost block.
func TestKilledServerLosesNoFirstClaimOfAScope(t *testing.T) {
	t.Parallel()
	const scopes, each, workers = 24, 4, 16
	binary, dsn := serverBinary(t), database(t)
	start := func() *process {
		return startProcess(t, binary, nil, "--database-url="+dsn, "--max-connections=8", "--request-timeout=60s")
	}
	p := start()
	c := newCaller(p.Addr())
	c.newProject(t, project)
	c.scopedClass(t)

	var up sync.RWMutex // held for writing while the server is down
	var unknown atomic.Int64
	bound := make(chan struct{}, scopes*each)
	ready := func() { // blocks until the server runs again
		up.RLock()
		defer up.RUnlock()
	}
	ask := func(ctx context.Context, i int) (a answer) {
		scope := i % scopes
		body := obj{"metadata": obj{"generateName": fmt.Sprintf("s%d-", scope)}, "spec": inScope(fmt.Sprint("n", scope), "fra")}
		for ctx.Err() == nil {
			var err error
			if a, err = c.try(ctx, t, http.MethodPost, at("claims"), body, key(fmt.Sprint("k", i))); err == nil {
				return a
			}
			unknown.Add(1)
			ready()
		}
		return a
	}
	answers := make([]answer, scopes*each)
	var wg sync.WaitGroup
	next := make(chan int, len(answers))
	for i := range answers {
		next <- i
	}
	close(next)
	for range workers {
		wg.Go(func() {
			for i := range next {
				answers[i] = ask(t.Context(), i)
				bound <- struct{}{}
			}
		})
	}
	for range 2 {
		for range scopes / 2 {
			<-bound
		}
		up.Lock()
		p.Kill()
		p = start()
		c.follow(p.Addr())
		up.Unlock()
	}
	wg.Wait()
	require.Positive(t, unknown.Load(), "the kills hit something")
	t.Logf("%d requests had no answer", unknown.Load())

	names, pools := map[string]string{}, map[string]bool{}
	for i, a := range answers {
		claim := decode[client.IPClaim](t, c.created(t, a))
		names[claim.Metadata.Name] = claim.Status.AllocatedCIDR
		pools[claim.Status.PoolRef.Name] = true
		again := c.created(t, ask(t.Context(), i))
		require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
		require.JSONEq(t, string(a.body), string(again.body))
	}
	require.Len(t, names, len(answers), "each key has a claim of its own")
	listed := map[string]string{}
	for _, claim := range all[client.IPClaim](t, c, at("claims")) {
		listed[claim.Metadata.Name] = claim.Status.AllocatedCIDR
	}
	require.Equal(t, names, listed)
	require.Len(t, pools, scopes)
	require.Len(t, c.scopes(t), scopes, "no pool without a claim is left behind")
	require.NoError(t, p.Stop())
}
