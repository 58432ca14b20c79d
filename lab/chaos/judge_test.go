package chaos

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
)

// scene is a run with a service without faults. Claim c0-0-a is held, and claim c0-1-a was released.
type scene struct {
	*run

	held, gone *entry
	stored     map[string]thing
}

func newScene(t *testing.T) *scene {
	t.Helper()
	mix := Ordinary()
	mix.Pools, mix.Clients, mix.Operations = mix.Pools[:1], 0, 0
	r := &run{
		plan: NewPlan(mix, 1), dir: t.TempDir(), ledger: newLedger(mix.Pools), attempts: newAttempts(), progress: newProgress(),
		restored: restored{apart: map[string]bool{}},
	}
	s := &scene{run: r, stored: map[string]thing{}}
	s.held = s.claim(0, "10.0.0.0/32")
	s.gone = s.claim(1, "10.0.0.1/32")
	require.True(t, r.ledger.release(0, s.gone))
	r.ledger.ended(s.gone, answer{status: 204}, false)
	s.stored["c0-0-a"] = made("c0-0-a", "10.0.0.0/32")
	return s
}

func made(name, block string) (t thing) {
	t.Metadata.Name, t.Metadata.UID, t.Status.AllocatedCIDR = name, "uid of "+name, netip.MustParsePrefix(block)
	return t
}

// claim returns the entry of a claim whose client knows that it holds the claim.
func (s *scene) claim(number int, block string) *entry {
	op := &Op{Number: number, Kind: Claim, Pool: "four", Bits: 32, Names: []string{fmt.Sprintf("c0-%d-a", number)}}
	entries := s.ledger.ask(op)
	s.ledger.got(entries, []thing{made(op.Names[0], block)})
	return entries[0]
}

func (s *scene) judged() []string {
	var res Result
	res.Tally = map[string]int{}
	s.requests.Add(10)
	s.compare(s.stored)
	s.pardon()
	s.linearizable(&res)
	s.budget(&res)
	return Result{Violations: s.ledger.wrong}.Checks()
}

func TestCorrectRunHasNoViolation(t *testing.T) {
	t.Parallel()
	require.Empty(t, newScene(t).judged())
}

func TestEachCheckDetectsItsViolation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		title, check string
		doctor       func(s *scene)
	}{
		{"AHeldClaimIsNotStored", "lost", func(s *scene) { delete(s.stored, "c0-0-a") }},
		{"AHeldClaimIsStoredWithAnotherBlock", "told", func(s *scene) { s.stored["c0-0-a"] = made("c0-0-a", "10.0.0.9/32") }},
		{"AHeldClaimIsAnotherOne", "told", func(s *scene) {
			other := s.stored["c0-0-a"]
			other.Metadata.UID = "another"
			s.stored["c0-0-a"] = other
		}},
		{"AReleasedClaimIsStored", "told", func(s *scene) { s.stored["c0-1-a"] = made("c0-1-a", "10.0.0.1/32") }},
		{"AClaimIsStoredThatNoClientKnows", "leaked", func(s *scene) { s.stored["x"] = made("x", "10.0.0.7/32") }},
		{"ABlockIsGivenTwice", "linearizable", func(s *scene) {
			s.claim(2, "10.0.0.0/32")
			s.stored["c0-2-a"] = made("c0-2-a", "10.0.0.0/32")
		}},
		{"ARefusalWhileThereIsRoom", "linearizable", func(s *scene) {
			op := &Op{Number: 3, Kind: Claim, Pool: "four", Bits: 32, Names: []string{"c0-3-a"}}
			s.ledger.absent(s.ledger.ask(op), ipam.CodePoolExhausted)
		}},
		{"AFreeBlockIsCalledTaken", "linearizable", func(s *scene) {
			op := &Op{Number: 3, Kind: ClaimBlock, Pool: "four", Bits: 32, Block: netip.MustParsePrefix("10.0.0.5/32"), Names: []string{"c0-3-a"}}
			s.ledger.absent(s.ledger.ask(op), ipam.CodeBlockTaken)
		}},
		{"AHeldClaimIsNotFoundByItsRelease", "linearizable", func(s *scene) {
			s.ledger.release(0, s.held)
			s.ledger.ended(s.held, answer{status: 404, code: ipam.CodeNotFound}, false)
			delete(s.stored, "c0-0-a")
		}},
		{"TransactionsAreTriedTooOften", "attempts", func(s *scene) { s.attempts.byEnd["committed"] = 1000 }},
		{"TransactionsAreRunAgainTooOften", "attempts", func(s *scene) { s.attempts.byEnd["again"] = 25 }},
		{"APlanIsOutOfDateUnderLocks", "stale", func(s *scene) {
			s.plan.Healthy = true
			s.attempts.stale["claim_group"] = 1
		}},
		{"WhatARestoreIsNotAboutIsLost", "lost", func(s *scene) {
			s.restored.apart["c0-1-a"] = true
			delete(s.stored, "c0-0-a")
		}},
	} {
		t.Run(c.title, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			c.doctor(s)
			require.Equal(t, []string{c.check}, s.judged())
		})
	}
}

// A cut connection increases the same figure as a plan that is out of date. So the check must allow such plans in a storm.
func TestStalePlansAreAllowedInAStorm(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.attempts.stale["claim_group"] = 1
	require.Empty(t, s.judged())
}

func TestStalePlansAreReadFromTheMetrics(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `# TYPE carve_tx_attempts_total counter
process_start_time_seconds %d
carve_tx_attempts_total{end="again",op="claim_group",sqlstate=""} 3
carve_tx_attempts_total{end="again",op="claim_group",sqlstate="40001"} 5
carve_tx_attempts_total{end="committed",op="claim_group",sqlstate=""} 1.1e+01
`, time.Now().Add(-time.Hour).Unix())
	}))
	t.Cleanup(server.Close)
	a, addr := newAttempts(), server.Listener.Addr().String()
	r := &region{}
	r.addr.Store(&addr)
	a.scrape(t.Context(), r)
	a.scrape(t.Context(), r)
	require.Equal(t, map[string]int{"again": 16, "committed": 22}, a.byEnd)
	require.Equal(t, map[string]int{"claim_group": 6}, a.stale)
	require.GreaterOrEqual(t, a.uptime, 2*time.Hour, "of two servers")
}

func TestClaimsUndoneByARestoreAreNoViolation(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.restored.apart["c0-0-a"] = true
	s.restored.apart["c0-1-a"] = true
	delete(s.stored, "c0-0-a")
	s.stored["c0-1-a"] = made("c0-1-a", "10.0.0.1/32")
	require.Empty(t, s.judged())
	require.Equal(t, 2, s.ledger.tally["told apart after the restore"])
}

func TestGeneratedNameIsRecognizedByItsPrefix(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.restored.apart["c1-2-a-b1234567"] = true
	require.True(t, s.isApart("c1-2-a"))
	require.False(t, s.isApart("c1-2"))
	require.False(t, s.isApart("c1-2-b"))
}

func TestImproperAnswers(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		answer   answer
		improper bool
	}{
		"ATyped503":             {answer{status: 503, code: ipam.CodeContention, body: []byte("Too many requests")}, false},
		"ADeadline":             {answer{status: 504, code: ipam.CodeDeadline}, false},
		"ARefusal":              {answer{status: 409, code: ipam.CodePoolExhausted}, false},
		"A500":                  {answer{status: 500, code: ipam.CodeInternal}, true},
		"A503WithoutACode":      {answer{status: 503}, true},
		"A503OfAnotherKind":     {answer{status: 503, code: ipam.CodePoolExhausted}, true},
		"ASerializationFailure": {answer{status: 503, code: ipam.CodeContention, body: []byte("restart transaction: SQLSTATE 40001")}, true},
		"ADriversWords":         {answer{status: 503, code: ipam.CodeUnavailable, body: []byte("dial tcp 127.0.0.1:5432")}, true},
		"ARefusalWithoutACode":  {answer{status: 409}, true},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.improper, c.answer.improper() != "", c.answer.improper())
		})
	}
}
