package e2e

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/testkit/pgfault"
)

// unknownCommits are the faults after which the server does not know the outcome of a COMMIT.
var unknownCommits = []func() pgfault.Fault{
	pgfault.CommittedAnswerLost, pgfault.LostBeforeCommit, pgfault.CommitAmbiguous40003, pgfault.RolledBackAmbiguous40003,
	pgfault.CommittedThenDrain57P01,
}

// The COMMIT of each of 400 requests is cut. Its client repeats the request until it gets a response, and then once more. The last repeat must return
// the first response, and exactly 400 blocks must be taken. The service generates the names, so only the key identifies a repeat.
func TestRetryAfterACutCommitTakesEffectOnce(t *testing.T) {
	t.Parallel()
	const servers, each = 4, 100
	dsn := database(t)
	direct := newCaller(serve(t, dsn))
	direct.created(t, direct.do(t, http.MethodPost, "/v1/projects", obj{"metadata": obj{"name": project}}))
	for i := range servers {
		direct.pool(t, fmt.Sprintf("p%d", i), obj{"cidr": fmt.Sprintf("10.%d.0.0/23", i)})
	}
	var wg sync.WaitGroup
	sites := make([]*cutSite, servers)
	for i := range sites {
		s := startCutSite(t, dsn)
		sites[i] = s
		wg.Go(func() {
			for n := range each {
				s.claimTwice(t, fmt.Sprintf("p%d", i), n)
			}
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for i, s := range sites {
		require.EqualValues(t, 512-each, direct.available(t, fmt.Sprintf("p%d", i)).Int64())
		cuts := 0
		for _, n := range s.proxy.Injected() {
			cuts += n
		}
		require.GreaterOrEqual(t, cuts, each, "%v", s.proxy.Injected())
		t.Logf("server %d: %d answered at once, %d after repeats; %v", i, s.atOnce, each-s.atOnce, s.proxy.Injected())
		for _, block := range s.blocks {
			require.False(t, seen[block], block)
			seen[block] = true
		}
	}
	require.Len(t, seen, servers*each)
	require.Len(t, all[client.IPClaim](t, direct, at("claims")), servers*each)
}

// cutSite is a server whose database connections a test can cut.
type cutSite struct {
	*caller
	proxy  *pgfault.Proxy
	blocks []string // the blocks in the responses to the clients
	atOnce int
}

func startCutSite(t testing.TB, dsn string, rules ...pgfault.Rule) *cutSite {
	t.Helper()
	proxy, err := pgfault.Start(t.Context(), dsn, rules...)
	require.NoError(t, err)
	t.Cleanup(proxy.Close)
	// The server's own jobs run no transactions, so the next COMMIT belongs to a request.
	s := &cutSite{caller: newCaller(serve(t, proxy.DSN(), "--log-level=error", "--metrics-pools=0")), proxy: proxy}
	s.outages = true
	return s
}

// claimTwice cuts the next COMMIT and claims. It repeats the claim until it gets a response, and then once more.
func (s *cutSite) claimTwice(t testing.TB, pool string, n int) {
	t.Helper()
	cut := unknownCommits[n%len(unknownCommits)]()
	s.proxy.SetRules(pgfault.Once(cut))
	if n%10 == 0 { // also cut the connection on which the server would check the outcome, and the connection after it
		s.proxy.SetRules(pgfault.First(2, afterwards(pgfault.ConnectionLost())), pgfault.Once(cut))
	}
	body := obj{"metadata": obj{"generateName": pool + "-"}, "spec": from(pool, 32)}
	first, tries := s.untilAnswered(t, body, key(fmt.Sprintf("%s-%d", pool, n)))
	s.proxy.SetRules()
	again, _ := s.untilAnswered(t, body, key(fmt.Sprintf("%s-%d", pool, n)))
	if first.status != http.StatusCreated || string(first.body) != string(again.body) || again.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("first %d %s, repeat %d %v %s", first.status, first.body, again.status, again.header, again.body)
		return
	}
	s.blocks = append(s.blocks, decode[client.IPClaim](t, first).Status.AllocatedCIDR)
	if tries == 1 {
		s.atOnce++
	}
}

// afterwards activates a fault only after a COMMIT.
func afterwards(f pgfault.Fault) pgfault.Fault {
	seen := false
	return func(e pgfault.Event) pgfault.Action {
		if e.Kind == pgfault.Commit {
			seen = true
			return pgfault.Action{}
		}
		if !seen || !e.Executes() {
			return pgfault.Action{}
		}
		return f(e)
	}
}

// untilAnswered repeats a claim until its outcome is known.
func (s *cutSite) untilAnswered(t testing.TB, body obj, options ...option) (a answer, tries int) {
	t.Helper()
	for tries = 1; t.Context().Err() == nil; tries++ {
		a, err := s.try(t.Context(), t, http.MethodPost, at("claims"), body, options...)
		if err == nil && a.status < 500 {
			return a, tries
		}
	}
	return a, tries
}

// Each fault occurs sometimes, in each operation on claims. Acknowledged claims must exist, refused claims must not, and no caller may see a 40001.
func TestAcknowledgedClaimsExistAfterAStormOfFaults(t *testing.T) {
	t.Parallel()
	const p, seed = 0.04, 7
	dsn := database(t)
	s := startCutSite(t, dsn)
	s.created(t, s.do(t, http.MethodPost, "/v1/projects", obj{"metadata": obj{"name": project}}))
	s.pool(t, "p", obj{"cidr": "10.0.0.0/24"})
	whole := s.available(t, "p")
	s.proxy.SetRules(
		pgfault.Probability(p, seed, pgfault.CommittedAnswerLost()),
		pgfault.Probability(p, seed, pgfault.LostBeforeCommit()),
		pgfault.Probability(p, seed, pgfault.CommitSerializationFailure()),
		pgfault.Probability(p, seed, pgfault.CommitAmbiguous40003()),
		pgfault.Probability(p, seed, pgfault.RolledBackAmbiguous40003()),
		pgfault.Probability(p/2, seed, pgfault.StatementSerializationFailure()),
		pgfault.Probability(p/2, seed, pgfault.ConnectionLost()),
		pgfault.Probability(p/2, seed, pgfault.AnswerLost()),
		pgfault.Probability(p/2, seed, pgfault.Drain57P01()),
	)
	kept := make([]string, 16) // the block of each client's last claim, which stays
	var wg sync.WaitGroup
	for i := range kept {
		wg.Go(func() {
			for n := range 12 {
				name := fmt.Sprintf("c%d-%d", i, n)
				a := s.insist(t, http.MethodPut, at("claims", name), obj{"spec": from("p", 29)})
				if p, isProblem := problemOf(a); isProblem {
					if p.Code != "pool_exhausted" {
						t.Errorf("%s: %s", name, a.body)
					}
					continue
				}
				if kept[i] = decode[client.IPClaim](t, a).Status.AllocatedCIDR; n == 11 {
					return
				}
				kept[i] = ""
				if a := s.insist(t, http.MethodDelete, at("claims", name), nil); a.status != http.StatusNoContent && a.status != http.StatusNotFound {
					t.Errorf("%s: %s", name, a.body)
				}
			}
		})
	}
	wg.Wait()
	t.Log(s.proxy.Injected())
	s.proxy.SetRules()
	held := map[string]bool{}
	for _, claim := range all[client.IPClaim](t, s.caller, at("claims")) {
		held[claim.Status.AllocatedCIDR] = true
	}
	for _, block := range kept {
		if block != "" {
			require.True(t, held[block], "%s was acknowledged", block)
			whole.Sub(whole, size(block))
			delete(held, block)
		}
	}
	require.Empty(t, held, "nobody was told of these")
	require.Equal(t, whole, s.available(t, "p"))
}

// insist repeats a request that is safe to repeat until its outcome is known.
func (s *cutSite) insist(t testing.TB, method, path string, body any) answer {
	t.Helper()
	for t.Context().Err() == nil {
		if a, err := s.try(t.Context(), t, method, path, body); err == nil && a.status < 500 {
			return a
		}
	}
	return answer{}
}
