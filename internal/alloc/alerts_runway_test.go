package alloc_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// pastAPlan is longer than the interval between two checks of a rule with a forecast.
const pastAPlan = 11 * time.Minute

// Hourly claims fill a pool within days, and the alert begins before the pool is full. The alert stays while the pool is full. It ends when the usage
// no longer grows.
func TestRunwayAlertBeginsBeforeAPoolIsFull(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	b.pool(t, root("still", "10.1.0.0/24"))
	b.claim(t, claim("half", "still", 25))
	r, recorder := func(s *ipam.AlertRuleSpec) { s.Percent, s.Runway = 0, new(5*24*time.Hour) }, b.recorder(t)
	b.rule(t, onPools("five-days", 0, r))
	b.rule(t, onPools("a-day", 0, r, func(s *ipam.AlertRuleSpec) { s.Runway = new(24 * time.Hour) }))
	hour := func() {
		_, err := recorder.Record(b.ctx)
		require.NoError(t, err)
		b.clock.move(time.Hour - pastAPlan)
	}
	plans := func() (changed int64) {
		b.clock.move(pastAPlan)
		changed, err := b.EvaluateAlerts(b.ctx)
		require.NoError(t, err)
		return changed
	}
	for i := range 24 {
		b.claim(t, claim(fmt.Sprint("c", i), "net", 31))
		hour()
		if plans() > 0 {
			require.Greater(t, i, 10, "there is too little to say anything by")
		}
	}
	require.Equal(t, []string{"five-days/net"}, b.alerts(t))
	a := b.alertsNow(t)[0]
	require.InDelta(t, 120, a.RunsOutAt.Sub(a.Since).Hours(), 12)
	require.Equal(t, new(5*24*time.Hour), a.Spec.Runway)
	require.EqualValues(t, 1875, a.Now.Hundredths())

	for i, size := range []int{25, 26, 28} {
		b.claim(t, claim(fmt.Sprint("rest", i), "net", size))
	}
	for range 40 {
		hour()
		plans()
	}
	require.Equal(t, []string{"five-days/net"}, b.alerts(t), "it is full, along no line at all")
	b.release(t, "rest2")
	hour()
	require.EqualValues(t, 1, plans(), "nothing is full, and nobody can say when")
	require.Equal(t, []string{"begins five-days/net", "ends five-days/net"}, b.toldOfAlerts(t))
}

func TestAlertRuleChangesFromPercentToRunway(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/30"))
	b.claim(t, claim("most", "net", 31))
	b.rule(t, onPools("half", 50))
	b.looks(t)
	require.Equal(t, []string{"half/net"}, b.alerts(t))
	_, err := b.PatchAlertRule(b.ctx, project, "half", usecase.Request{}, func(r ipam.AlertRule) (ipam.AlertRule, error) {
		r.Spec.Percent, r.Spec.Runway = 0, new(time.Hour)
		return r, nil
	})
	require.NoError(t, err)
	require.EqualValues(t, 1, b.looks(t), "it does not fill up")
	e := b.events(t, project, trail.EventFilter{Kind: trail.KindAlertRule})[0]
	require.JSONEq(t, `{"spec":{"percent":50}}`, string(e.Before))
	require.JSONEq(t, `{"spec":{"runway":"1h"}}`, string(e.After))
}
