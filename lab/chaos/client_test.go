package chaos

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
)

// reply is one prepared response of a test server.
type reply struct {
	status int
	body   string
}

func claimed(name, block string) reply {
	return reply{http.StatusCreated, fmt.Sprintf(`{"metadata":{"name":%q,"uid":"uid of %s"},"status":{"allocatedCIDR":%q}}`, name, name, block)}
}

func problem(status int, code string) reply { return reply{status, `{"code":"` + code + `"}`} }

// against returns a run with test servers. To each kind of request ("POST /v1/...") they return its replies in order, and then repeat the last one.
func against(t *testing.T, replies map[string][]reply) *scene {
	t.Helper()
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		key := r.Method + " " + r.URL.Path
		list := replies[key]
		if len(list) == 0 {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		if len(list) > 1 {
			replies[key] = list[1:]
		}
		w.Header().Set("Idempotency-Replayed", "true") // the client reads this header only in repeats
		w.WriteHeader(list[0].status)
		_, _ = w.Write([]byte(list[0].body))
	}))
	t.Cleanup(server.Close)
	s := newScene(t)
	s.caller = newCaller(2)
	t.Cleanup(s.caller.close)
	addr := server.Listener.Addr().String()
	for i := range 2 {
		r := &region{index: i, plan: s.plan}
		r.addr.Store(&addr)
		s.regions = append(s.regions, r)
	}
	return s
}

const (
	post = "POST /v1/projects/acme/claims"
	get  = "GET /v1/projects/acme/claims/c1-0-a"
	del  = "DELETE /v1/projects/acme/claims/c0-0-a"
)

func TestClientRecordsOnlyCertainOutcomes(t *testing.T) {
	t.Parallel()
	mine := claimed("c1-0-a", "10.0.0.4/32")
	for title, c := range map[string]struct {
		kind    Kind
		keyed   bool
		replies map[string][]reply
		state   state
		checks  []string
	}{
		"MadeAtOnce":            {Claim, false, map[string][]reply{post: {mine}}, isHeld, nil},
		"RefusedAtOnce":         {Claim, false, map[string][]reply{post: {problem(409, "pool_exhausted")}}, isAbsent, nil},
		"UnknownAndThenMade":    {Claim, true, map[string][]reply{post: {problem(503, "outcome_unknown"), mine}}, isHeld, nil},
		"UnknownAndFoundByName": {Claim, false, map[string][]reply{post: {problem(503, "outcome_unknown"), problem(409, "already_exists")}, get: {mine}}, isHeld, nil},
		"ConflictAndThenNotFound": {Claim, false, map[string][]reply{
			post: {problem(503, "outcome_unknown"), problem(409, "already_exists")}, get: {problem(404, "not_found")},
		}, isOpen, []string{"told"}},
		"TimeUpAndThenRefused":    {Claim, true, map[string][]reply{post: {problem(504, string(ipam.CodeDeadline)), problem(409, "pool_exhausted")}}, isOpen, nil},
		"AnInternalError":         {Claim, false, map[string][]reply{post: {problem(500, "internal")}}, isAbsent, []string{"answer"}},
		"AnUnexpectedRefusal":     {Claim, false, map[string][]reply{post: {problem(403, "forbidden")}}, isAbsent, []string{"answer"}},
		"OfTwoOneIsTold":          {Twice, false, map[string][]reply{post: {mine, problem(409, "already_exists")}}, isHeld, nil},
		"OfTwoBothAreTold":        {Twice, false, map[string][]reply{post: {mine}}, isHeld, []string{"twice"}},
		"OfTwoOneIsNotSure":       {Twice, false, map[string][]reply{post: {problem(503, "outcome_unknown"), problem(409, "already_exists")}, get: {mine}}, isHeld, nil},
		"OfTwoBothFindTheName":    {Twice, false, map[string][]reply{post: {problem(409, "already_exists")}, get: {problem(404, "not_found")}}, isOpen, []string{"told"}},
		"OfTwoBothAreRefused":     {Twice, false, map[string][]reply{post: {problem(409, "pool_exhausted")}}, isAbsent, nil},
		"AnAnswerNotOfTheOutside": {Claim, false, map[string][]reply{post: {{409, `{"code":"pool_exhausted","detail":"SQLSTATE 40001"}`}}}, isAbsent, []string{"answer"}},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			s := against(t, c.replies)
			op := Op{Client: 1, Kind: c.kind, Keyed: c.keyed, Pool: "four", Bits: 32, Names: []string{"c1-0-a"}}
			s.client(t.Context(), []Op{op})
			require.Equal(t, c.state, s.ledger.named("c1-0-a").state)
			require.Equal(t, c.checks, Result{Violations: s.ledger.wrong}.Checks())
		})
	}
}

// A repeat by key must return the response of the first request until the claim is released. After the release, the repeat must be refused, because
// the block may belong to another claim.
func TestRepeatReturnsTheClaimUntilItsRelease(t *testing.T) {
	t.Parallel()
	released := problem(409, "claim_released")
	for title, c := range map[string]struct {
		of     func(s *scene) *entry
		reply  reply
		checks []string
	}{
		"OfAHeldOneIsAnswered":            {func(s *scene) *entry { return s.held }, claimed("c0-0-a", "10.0.0.0/32"), nil},
		"OfAHeldOneWithAnotherBlock":      {func(s *scene) *entry { return s.held }, claimed("c0-0-a", "10.0.0.9/32"), []string{"repeat"}},
		"OfAHeldOneIsRefused":             {func(s *scene) *entry { return s.held }, released, []string{"repeat"}},
		"OfAReleasedOneIsRefused":         {func(s *scene) *entry { return s.gone }, released, nil},
		"OfAReleasedOneIsAnswered":        {func(s *scene) *entry { return s.gone }, claimed("c0-1-a", "10.0.0.1/32"), []string{"repeat"}},
		"OfAReleasedOneIsRefusedWithElse": {func(s *scene) *entry { return s.gone }, problem(409, "pool_exhausted"), []string{"repeat"}},
		"OfOneThatIsBeingReleased":        {(*scene).releasing, released, nil},
		"OfOneThatIsNotReleasedAfterAll":  {(*scene).releasing, claimed("c0-0-a", "10.0.0.0/32"), nil},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			s := against(t, map[string][]reply{post: {c.reply}})
			e := c.of(s)
			s.client(t.Context(), []Op{{Client: 1, Kind: Again, Target: e.op, Index: e.index}})
			require.Equal(t, c.checks, Result{Violations: s.ledger.wrong}.Checks())
		})
	}
}

// releasing begins the release of the held claim and returns the claim.
func (s *scene) releasing() *entry {
	s.ledger.release(0, s.held)
	return s.held
}

func TestContentionOnAHealthyDatabaseIsAViolation(t *testing.T) {
	t.Parallel()
	for title, checks := range map[string][]string{"Well": {"starved"}, "AStorm": nil} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			s := against(t, map[string][]reply{post: {problem(503, "contention"), claimed("c1-0-a", "10.0.0.4/32")}})
			s.plan.Healthy = checks != nil
			s.client(t.Context(), []Op{{Client: 1, Kind: Claim, Pool: "four", Bits: 32, Names: []string{"c1-0-a"}}})
			require.Equal(t, isHeld, s.ledger.named("c1-0-a").state)
			require.Equal(t, checks, Result{Violations: s.ledger.wrong}.Checks())
		})
	}
}

// Releases must not go to another region, because a client that holds a block knows the block's region.
func TestHalfOfTheClaimsGoToARestoredRegion(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	there := &region{index: 2}
	ask := func(kind Kind, number int) int {
		op := Op{Kind: kind, Number: number, Hop: true}
		s.divert(&op)
		return op.Server
	}
	require.Zero(t, ask(Claim, 1), "before the restore")
	s.restored.asked.Store(there)
	require.Equal(t, 2, ask(Claim, 1))
	require.Equal(t, 2, ask(Batch, 3))
	require.Zero(t, ask(Claim, 2), "half of them")
	require.Zero(t, ask(Release, 1))
	s.restored.asked.Store(nil)
	require.Zero(t, ask(Claim, 1), "after the operator came")
}

func TestReleaseIsRepeatedUntilItsOutcomeIsCertain(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		replies []reply
		state   state
		checks  []string
	}{
		"Done":                          {[]reply{{204, ""}}, isReleased, nil},
		"UnknownThenNotFound":           {[]reply{problem(503, "outcome_unknown"), problem(404, "not_found")}, isReleased, nil},
		"NothingChangedThenDone":        {[]reply{problem(503, "contention"), {204, ""}}, isReleased, nil},
		"AnUnexpectedRefusalOfARelease": {[]reply{problem(403, "forbidden")}, isHeld, []string{"answer"}},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			s := against(t, map[string][]reply{del: c.replies})
			s.client(t.Context(), []Op{{Client: 1, Kind: Release, Target: s.held.op}})
			require.Equal(t, c.state, s.ledger.known(s.held).state)
			require.Equal(t, c.checks, Result{Violations: s.ledger.wrong}.Checks())
		})
	}
}
