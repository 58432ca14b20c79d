package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/schema"
)

// An operator runs `migrate` of a later version while servers of this version run. These servers would violate the new schema. So they
// must stop by themselves and log the reason. None can start again, and the database keeps their acknowledged changes.
func TestServersTooOldForTheirDatabaseStop(t *testing.T) {
	t.Parallel()
	dsn := database(t)
	binary := serverBinary(t)
	start := func() *process {
		return startProcess(t, binary, nil, "--database-url="+dsn, "--max-connections=4", "--request-timeout=60s")
	}
	servers := []*process{start(), start()}
	status, answered := plainly(t, servers[0], "POST", "/projects", obj{"metadata": obj{"name": "team"}})
	require.Equal(t, 201, status, answered)
	status, answered = plainly(t, servers[0], "POST", "/projects/team/pools", obj{"metadata": obj{"name": "pool"}, "spec": obj{"cidr": "10.0.0.0/16"}})
	require.Equal(t, 201, status, answered)
	var wg sync.WaitGroup
	var mu sync.Mutex
	acknowledged, serving := map[string]bool{}, make(chan struct{})
	for i, p := range servers {
		wg.Go(func() {
			for n := 0; ; n++ {
				name := fmt.Sprintf("c-%d-%d", i, n)
				if !claimedFrom(t.Context(), p, name) { // the server refuses, or has stopped
					return
				}
				mu.Lock()
				if acknowledged[name] = true; len(acknowledged) == 20 {
					close(serving)
				}
				mu.Unlock()
			}
		})
	}
	<-serving
	c, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer func() { _ = c.Close(t.Context()) }()
	_, err = c.Exec(t.Context(), "UPDATE compatibility SET minimum = $1", schema.Version()+1)
	require.NoError(t, err)
	for _, p := range servers {
		require.Error(t, p.Wait(), "it ends by itself, and not well")
		require.Contains(t, p.Log(), "the server stops: this program is too old for the database")
	}
	wg.Wait()
	refused := refusedProcess(t, binary, nil, "--database-url="+dsn)
	require.Contains(t, refused.Log, fmt.Sprintf("programs that know at least number %d", schema.Version()+1))
	_, err = c.Exec(t.Context(), "UPDATE compatibility SET minimum = $1", schema.Version()) // the value that the later version would find
	require.NoError(t, err)
	auditClean(t, dsn)
	again := start()
	for name := range acknowledged {
		status, _ := plainly(t, again, "GET", "/projects/team/claims/"+name, nil)
		require.Equal(t, 200, status, name)
	}
	require.NoError(t, again.Stop())
}

// claimedFrom claims an address through a server that may have stopped, and reports whether the server acknowledged the claim.
func claimedFrom(ctx context.Context, p *process, name string) bool {
	body := fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"poolRef":{"name":"pool"},"prefixLength":32}}`, name)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+p.Addr()+"/v1/projects/team/claims", strings.NewReader(body))
	if err != nil {
		return false
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusCreated
}
