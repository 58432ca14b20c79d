package bench

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/devdb"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/pgfault"
)

// Authentication must cost no statement if the key is in the server's cache, and one read otherwise.
func TestAuthenticationCostsAtMostOneStatement(t *testing.T) {
	t.Parallel()
	if dbtest.Engine() != devdb.Postgres {
		t.Skip("statements are counted by a proxy that was made for PostgreSQL")
	}
	dsn := dbtest.New(t)
	w := startWiretap(t, dsn)
	// The servers' own jobs run no transactions, so each transaction belongs to a claim.
	open := serve(t, w.proxy.DSN(), "--auth=dev", "--metrics-pools=0")
	locked := serve(t, w.proxy.DSN(), "--auth=keys", "--rate-limit-writes=0", "--rate-limit-work=0", "--rate-limit-project-work=0", "--metrics-pools=0")
	root := locked.as(bootstrap(t, dsn))
	dev, _ := open.settle(t, 1)
	project, known := root.settle(t, 2)

	claim := func(c *caller, project, name string) []string {
		t.Helper()
		return w.statements(func() {
			status, err := c.claim(t.Context(), project, name)
			require.NoError(t, err)
			require.Equal(t, http.StatusCreated, status)
		})
	}
	claim(open, dev, "first")
	require.Empty(t, least(func(n int) []string { return claim(open, dev, fmt.Sprintf("second-%d", n)) }), "nobody is asked who it is")

	require.Empty(t, least(func(n int) []string { // on a slow machine, the cached key may expire
		claim(known, project, fmt.Sprintf("first-%d", n))
		return claim(known, project, fmt.Sprintf("second-%d", n))
	}), "with a key that is remembered")

	extra := least(func(n int) []string {
		return claim(root.as(root.key(t, project, fmt.Sprintf("new-%d", n))), project, fmt.Sprintf("by-new-%d", n))
	})
	require.Len(t, extra, 1, "with a key that was never seen")
	require.Contains(t, extra[0], "api_keys")
	require.True(t, strings.HasPrefix(extra[0], "select "), "it reads")
}

// least returns the fewest statements before a claim in ten attempts. Background jobs may send statements between the others, so one attempt is not
// enough.
func least(try func(n int) []string) (fewest []string) {
	for n := range 10 {
		if said := ahead(try(n)); n == 0 || len(said) < len(fewest) {
			fewest = said
		}
	}
	return fewest
}

// ahead returns the statements before the transaction of a claim.
func ahead(statements []string) []string {
	i := slices.IndexFunc(statements, func(sql string) bool { return strings.HasPrefix(sql, "begin ") })
	return statements[:max(i, 0)]
}

// wiretap records the statements that reach a database.
type wiretap struct {
	proxy *pgfault.Proxy
	mu    sync.Mutex
	said  []string
}

func startWiretap(t testing.TB, dsn string) *wiretap {
	t.Helper()
	w := &wiretap{}
	var err error
	w.proxy, err = pgfault.Start(context.Background(), dsn, pgfault.Fault(func(e pgfault.Event) pgfault.Action {
		if e.Executes() && !strings.Contains(e.SQL, "from compatibility") { // the server repeatedly checks whether it fits the schema
			w.mu.Lock()
			defer w.mu.Unlock()
			w.said = append(w.said, e.SQL)
		}
		return pgfault.Action{}
	}))
	require.NoError(t, err)
	t.Cleanup(w.proxy.Close)
	return w
}

// statements returns the statements that reach the database while f runs.
func (w *wiretap) statements(f func()) []string {
	w.mu.Lock()
	w.said = nil
	w.mu.Unlock()
	f()
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.said)
}

// A request that the rate limit refuses must cost the database nothing. A refusal by quota must cost no more than a success.
func TestRefusedClaimsCostLittle(t *testing.T) {
	t.Parallel()
	if dbtest.Engine() != devdb.Postgres {
		t.Skip("statements are counted by a proxy that was made for PostgreSQL")
	}
	dsn := dbtest.New(t)
	w := startWiretap(t, dsn)
	free := serve(t, dsn, "--auth=keys", "--rate-limit-writes=0", "--rate-limit-work=0", "--rate-limit-project-work=0", "--rate-limit-reads=0")
	limited := serve(t, w.proxy.DSN(), "--auth=keys", "--rate-limit-writes=1")
	counted := serve(t, w.proxy.DSN(), "--auth=keys", "--rate-limit-writes=0", "--rate-limit-work=0", "--rate-limit-project-work=0")
	root := free.as(bootstrap(t, dsn))
	full, who := root.settle(t, 1)
	other, rich := root.settle(t, 2)
	root.create(t, http.MethodPut, "/"+full+"/quotas/none", obj{"spec": obj{"limits": obj{"claims": 0}}}, nil)
	root.create(t, http.MethodPut, "/"+other+"/quotas/plenty", obj{"spec": obj{"limits": obj{"claims": 1000}}}, nil)
	send := func(c *caller, project, name string, want int) []string {
		t.Helper()
		return w.statements(func() {
			status, err := c.claim(t.Context(), project, name)
			require.NoError(t, err)
			require.Equal(t, want, status)
		})
	}
	poor, rich := counted.as(who.token), counted.as(rich.token)
	cold := send(poor, full, "a", http.StatusConflict) // from here on, the key is in the cache
	refused := send(poor, full, "b", http.StatusConflict)
	send(rich, other, "a", http.StatusCreated)
	bound := send(rich, other, "b", http.StatusCreated)
	for n := 0; n < 20 && len(refused) > min(len(cold), len(bound)); n++ { // background statements may come between
		refused = send(poor, full, "b", http.StatusConflict)
	}
	require.LessOrEqual(t, len(refused), len(cold))
	require.LessOrEqual(t, len(refused), len(bound), "refused: %v\nbound: %v", refused, bound)
	for n := 0; ; n++ {
		require.Less(t, n, 1000, "it is never limited, or never without a statement")
		var status int
		said := w.statements(func() {
			var err error
			status, err = limited.as(who.token).claim(t.Context(), full, "c")
			require.NoError(t, err)
		})
		if status == http.StatusTooManyRequests {
			said = slices.DeleteFunc(said, func(sql string) bool { return strings.Contains(sql, "from api_keys") }) // on a slow machine
			if len(said) == 0 {
				break
			} // else background statements may come between
		}
	}
	t.Logf("a claim is %d statements, one that a quota refuses %d, one beyond the rate limit none", len(bound), len(refused))
}
