package api_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api"
	"github.com/carve-ipam/carve/internal/api/auth"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/api/limits"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// spending implements use cases that return at once and charge the real costs (see budget_test.go in internal/alloc).
type spending struct {
	instant
	rows int // rows that a list reads
}

func (s *spending) CreateClaimBatch(ctx context.Context, _ string, claims []ipam.Claim, _ usecase.Request) (usecase.Result[[]ipam.Claim], error) {
	if err := tenancy.BudgetOf(ctx).Charge(tenancy.Work{Blocks: len(claims)}); err != nil {
		return usecase.Result[[]ipam.Claim]{}, err
	}
	return usecase.Result[[]ipam.Claim]{Value: s.page[:1]}, nil
}

func (s *spending) ListClaims(ctx context.Context, _ string, _ paging.Filter, _ int, _ string, _ usecase.Reading) (paging.Page[ipam.Claim], error) {
	tenancy.BudgetOf(ctx).Add(tenancy.Work{Rows: s.rows})
	return paging.Page[ipam.Claim]{Items: s.page, Next: "bmV4dA"}, nil
}

// holders maps a caller to the projects in which the caller has a role.
type holders map[string]map[string]tenancy.Held

func (h holders) Authenticate(_ context.Context, token string) (tenancy.Principal, error) {
	return tenancy.Principal{Subject: token, Method: "api-key", Held: h[token]}, nil
}

// setupDefaultLimits returns a server with the default limits, and the callers that it knows: keys of acme.
func setupDefaultLimits(t *testing.T) (limited, holders) {
	t.Helper()
	use := &spending{instant: instant{claim: script().claim}, rows: 501}
	use.page = []ipam.Claim{use.claim}
	l, known := limited{watch: &watch{}}, holders{}
	for i := range 8 {
		known[fmt.Sprintf("key:acme/k%d", i)] = map[string]tenancy.Held{"acme": {Project: ipam.NewID(), Role: tenancy.Admin}}
	}
	acme := known["key:acme/k0"]
	for who := range known {
		known[who] = acme
	}
	l.service = serve(t, api.Config{Service: use, Authenticator: auth.Combined{OIDC: known}, Limits: limits.DefaultRates.Limits(l.now)})
	return l, known
}

// post sends a body as the caller who.
func (l limited) post(t *testing.T, who, path string, body []byte) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, bytes.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+who)
	r.Header.Set("Content-Type", "application/json")
	return l.send(t, r)
}

// fullBatch returns a batch of a thousand claims with labels. Its length is about kib KiB.
func fullBatch(kib int) []byte {
	var b bytes.Buffer
	padding := max(kib<<10/1000-210, 1)
	for i := range 1000 {
		fmt.Fprintf(&b, `,{"metadata":{"name":"node-%04d","labels":{"app":"shop","team":"payments","env":"prod"},"annotations":{"note":"%0*d"}},"spec":{"poolRef":{"project":"platform","name":"nodes"},"prefixLength":32}}`, i, padding, i)
	}
	return append([]byte(`{"claims":[`+b.String()[1:]), `]}`...)
}

// The budgets never refuse a well-behaved program that stays within the limits on requests.
func TestOrdinaryClientsStayWithinDefaultBudgets(t *testing.T) {
	t.Parallel()
	const batches, batched = "/v1/projects/acme/claim-batches", "/v1/projects/acme/claims"
	one := []byte(benchFull)
	for name, run := range map[string]func(t *testing.T, l limited){
		"AFullBatchAndAnotherSoonAfter": func(t *testing.T, l limited) {
			t.Helper()
			body := fullBatch(400)
			require.Greater(t, len(body), 375<<10)
			for range 5 {
				w := l.post(t, "key:acme/k0", batches, body)
				require.Equal(t, http.StatusCreated, w.Code, w.Body)
				l.pass(2 * time.Second)
			}
		},
		"FiveHundredClaimsOfATool": func(t *testing.T, l limited) { // a tool reads, writes and reads each claim
			t.Helper()
			for range 500 {
				require.Equal(t, http.StatusOK, l.ask(t, "key:acme/k0", here, "GET", batched+"/c").Code)
				require.Equal(t, http.StatusCreated, l.post(t, "key:acme/k0", batched, one).Code)
				require.Equal(t, http.StatusOK, l.ask(t, "key:acme/k0", here, "GET", batched+"/c").Code)
				l.pass(5 * time.Millisecond)
			}
		},
		"AHundredClaimsASecondOfEachOfFourKeys": func(t *testing.T, l limited) {
			t.Helper()
			l.steadily(t, 4, 100, one)
		},
		"AllWritesThatAreAllowedOfEachOfEight": func(t *testing.T, l limited) {
			t.Helper()
			l.steadily(t, 8, 200, one)
		},
		"AllWritesThatAreAllowedWithLargeBodies": func(t *testing.T, l limited) {
			t.Helper()
			l.steadily(t, 1, 200, bytes.Replace(one, []byte(`NET-1`), bytes.Repeat([]byte("x"), 4<<10), 1))
		},
		"TwentyFiveThousandClaimsReadPageByPage": func(t *testing.T, l limited) {
			t.Helper()
			for page := range 50 {
				w := l.ask(t, "key:acme/k0", here, "GET", batched+"?limit=500")
				require.Equal(t, http.StatusOK, w.Code, "page %d: %s", page, w.Body)
				l.pass(4 * time.Millisecond) // much faster than a database can return the pages
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, _ := setupDefaultLimits(t)
			run(t, l)
		})
	}
}

// steadily creates claims with every key, each of them a second, for six seconds. A full budget would not last as long.
func (l limited) steadily(t *testing.T, keys, each int, body []byte) {
	t.Helper()
	for i := range 6 * each {
		for k := range keys {
			w := l.post(t, fmt.Sprintf("key:acme/k%d", k), "/v1/projects/acme/claims", body)
			require.Equal(t, http.StatusCreated, w.Code, "claim %d: %s", i, w.Body)
		}
		l.pass(time.Second / time.Duration(each))
	}
}

// A dry run costs more than a claim, so the keys of one project cannot use up the database with dry runs.
func TestDryRunsOfAProjectAreLimited(t *testing.T) {
	t.Parallel()
	l, _ := setupDefaultLimits(t)
	served := 0
	for range 1200 {
		for k := range 8 {
			if l.post(t, fmt.Sprintf("key:acme/k%d", k), "/v1/projects/acme/claims?dryRun=true", []byte(benchFull)).Code == http.StatusCreated {
				served++
			}
		}
		l.pass(time.Second / 200)
	}
	require.InDelta(t, (6+4)*200, served, 200, "200 a second for six seconds, and four seconds' worth at once")
}

// If a project or a key is deleted and created again, the new one does not start with the used-up budget of the old one.
func TestRecreatedProjectAndKeyInheritNoDebt(t *testing.T) {
	t.Parallel()
	l, known := setupDefaultLimits(t)
	spend := func(who string) *httptest.ResponseRecorder {
		return l.post(t, who, "/v1/projects/acme/claim-batches", fullBatch(400))
	}
	for i := range 8 {
		who := fmt.Sprintf("key:acme/k%d", i)
		for n := 0; spend(who).Code == http.StatusCreated; n++ {
			require.Less(t, n, 100, "there is a bound")
		}
	}
	problem(t, spend("key:acme/k7"), http.StatusTooManyRequests, gen.ProblemCodeRateLimited)
	known["key:acme/k7"] = map[string]tenancy.Held{"acme": {Project: ipam.NewID(), Role: tenancy.Admin}}
	w := spend("key:acme/k7")
	require.Equal(t, http.StatusCreated, w.Code, w.Body)
}
