package e2e

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/testkit/pgfault"
)

// The database disappears at a COMMIT and stays away. The caller gets outcome_unknown. When the database is back, a repeat of the request must return
// the outcome, whether or not the COMMIT took effect.
func TestUnknownOutcomeIsReturnedByARepeat(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]pgfault.Fault{"Committed": pgfault.CommittedAnswerLost(), "NotCommitted": pgfault.LostBeforeCommit()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startCutSite(t, database(t))
			s.created(t, s.do(t, http.MethodPost, "/v1/projects", obj{"metadata": obj{"name": project}}))
			s.pool(t, "p", obj{"cidr": "10.0.0.0/24"})
			gone := func() { s.proxy.SetRules(afterwards(pgfault.ConnectionLost()), pgfault.Once(cut)) }

			gone()
			body := obj{"metadata": obj{"generateName": "c-"}, "spec": from("p", 32)}
			s.refused(t, s.do(t, http.MethodPost, at("claims"), body, key("k")), "outcome_unknown")
			s.proxy.SetRules()
			first := s.created(t, s.do(t, http.MethodPost, at("claims"), body, key("k")))
			replayed := first.header.Get("Idempotency-Replayed") == "true"
			require.Equal(t, name == "Committed", replayed)
			require.EqualValues(t, 255, s.available(t, "p").Int64())

			gone()
			put := func() answer { return s.do(t, http.MethodPut, at("claims", "named"), obj{"spec": from("p", 32)}) }
			s.refused(t, put(), "outcome_unknown")
			s.proxy.SetRules()
			want := map[string]int{"Committed": http.StatusOK, "NotCommitted": http.StatusCreated}
			require.Equal(t, want[name], put().status)
			require.EqualValues(t, 254, s.available(t, "p").Int64())
		})
	}
}

// The caller disconnects before the COMMIT takes effect. A repeat with the same key must return the result.
func TestRepeatReturnsTheResultAfterTheCallerHasLeft(t *testing.T) {
	t.Parallel()
	s := startCutSite(t, database(t))
	s.created(t, s.do(t, http.MethodPost, "/v1/projects", obj{"metadata": obj{"name": project}}))
	s.pool(t, "p", obj{"cidr": "10.0.0.0/24"})

	gate := pgfault.NewGate()
	s.proxy.SetRules(pgfault.Once(pgfault.On(pgfault.Commit, pgfault.Hold(gate))))
	ctx, giveUp := context.WithCancel(t.Context())
	gone := make(chan error)
	body := obj{"metadata": obj{"generateName": "c-"}, "spec": from("p", 32)}
	go func() {
		_, err := s.try(ctx, t, http.MethodPost, at("claims"), body, key("k"))
		gone <- err
	}()
	_, err := gate.Await(t.Context())
	require.NoError(t, err)
	giveUp()
	require.ErrorIs(t, <-gone, context.Canceled)
	gate.Open()

	first, _ := s.untilAnswered(t, body, key("k"))
	again, _ := s.untilAnswered(t, body, key("k"))
	require.Equal(t, "true", s.created(t, again).header.Get("Idempotency-Replayed"))
	require.JSONEq(t, string(first.body), string(again.body))
	require.EqualValues(t, 255, s.available(t, "p").Int64())
}
