package alloc_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/alerts"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// pastALook is longer than the interval between two checks of a rule.
const pastALook = 31 * time.Second

func onPools(name string, percent int, more ...func(*ipam.AlertRuleSpec)) ipam.AlertRule {
	r := ipam.AlertRule{Metadata: meta(name), Spec: ipam.AlertRuleSpec{About: ipam.AboutPools, Percent: percent}}
	for _, f := range more {
		f(&r.Spec)
	}
	return r
}

func (b *bundle) rule(t testing.TB, r ipam.AlertRule) ipam.AlertRule {
	t.Helper()
	made, err := b.CreateAlertRule(b.ctx, project, r, usecase.Request{})
	require.NoError(t, err)
	return made.Value
}

// alerts returns the names of all current alerts.
func (b *bundle) alerts(t testing.TB) (names []string) {
	t.Helper()
	for _, a := range b.alertsNow(t) {
		names = append(names, a.Name())
	}
	return names
}

func (b *bundle) alertsNow(t testing.TB) []ipam.Alert {
	t.Helper()
	return all(t, 2, func(n int, c string) (paging.Page[ipam.Alert], error) {
		return b.ListAlerts(b.ctx, project, n, c, usecase.Reading{})
	})
}

// looks runs the next check of all rules, and returns the number of alerts that began or ended.
func (b *bundle) looks(t testing.TB) (changed int64) {
	t.Helper()
	b.clock.move(pastALook)
	changed, err := b.EvaluateAlerts(b.ctx)
	require.NoError(t, err)
	return changed
}

// toldOfAlerts returns the alert events in the audit trail, oldest first.
func (b *bundle) toldOfAlerts(t testing.TB) (told []string) {
	t.Helper()
	for _, e := range b.events(t, project, trail.EventFilter{Kind: trail.KindAlert}) {
		word := "begins "
		if len(e.After) == 0 {
			word = "ends "
		}
		told = append([]string{word + e.Name}, told...)
	}
	return told
}

func TestAlertBeginsAtItsPercentageAndEndsTwoPointsBelow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/28")) // 6.25 % each
	b.rule(t, onPools("half", 50))
	require.Zero(t, b.looks(t))
	b.claim(t, claim("most", "net", 29))
	b.release(t, "most")
	b.claim(t, claim("some", "net", 30))
	b.claim(t, claim("more", "net", 31))
	b.claim(t, claim("one", "net", 32))
	require.Zero(t, b.looks(t), "43.75 %")
	b.claim(t, claim("two", "net", 32))
	require.EqualValues(t, 1, b.looks(t), "50 %")
	a := b.alertsNow(t)[0]
	require.Equal(t, []any{"half/net", 50, int64(5000), b.clock.read()}, []any{a.Name(), a.Spec.Percent, a.Began, a.Since})
	b.claim(t, claim("three", "net", 32))
	require.Zero(t, b.looks(t))
	a = b.alertsNow(t)[0]
	require.Equal(t, []any{int64(5000), int64(5625)}, []any{a.Began, a.Now.Hundredths()})
	rule, err := b.GetAlertRule(b.ctx, project, "half")
	require.NoError(t, err)
	require.Equal(t, []any{int64(1), b.clock.read()}, []any{rule.Alerts, rule.CheckedAt})

	b.release(t, "three")
	require.Zero(t, b.looks(t), "it is where it began")
	_, err = b.PatchAlertRule(b.ctx, project, "half", usecase.Request{}, func(r ipam.AlertRule) (ipam.AlertRule, error) {
		r.Spec.Percent = 51
		return r, nil
	})
	require.NoError(t, err)
	require.Zero(t, b.looks(t), "50 % is less than 51 %, but not by two points")
	b.release(t, "two")
	require.EqualValues(t, 1, b.looks(t))
	require.Empty(t, b.alerts(t))
	require.Equal(t, []string{"begins half/net", "ends half/net"}, b.toldOfAlerts(t))
	for _, e := range b.events(t, project, trail.EventFilter{Kind: trail.KindAlert}) {
		require.Equal(t, alerts.Keeper, e.Subject)
	}
}

func TestAlertRuleMatchesPoolsByItsFilters(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, project, class("gold"))
	for i, name := range []string{"plain", "prod", "gold-pool"} {
		b.pool(t, root(name, fmt.Sprintf("10.0.%d.0/32", i), func(p *ipam.Pool) {
			switch name {
			case "prod":
				p.Labels = labels("env", "prod")
			case "gold-pool":
				p.Spec.ClassNames = []string{"gold"}
			}
		}))
		b.claim(t, claim("in-"+name, name, 32))
	}
	b.rule(t, onPools("all", 100))
	b.rule(t, onPools("class", 100, func(s *ipam.AlertRuleSpec) { s.ClassName = "gold" }))
	b.rule(t, onPools("labels", 100, func(s *ipam.AlertRuleSpec) {
		s.LabelSelector, s.Labels = "env=prod", &ipam.Selector{MatchLabels: map[string]string{"env": "prod"}}
	}))
	b.rule(t, onPools("named", 100, func(s *ipam.AlertRuleSpec) { s.Name = "plain" }))
	b.rule(t, onPools("nothing", 100, func(s *ipam.AlertRuleSpec) { s.Name = "elsewhere" }))
	b.looks(t)
	require.Equal(t, []string{"all/gold-pool", "all/plain", "all/prod", "class/gold-pool", "labels/prod", "named/plain"}, b.alerts(t))

	b.drain(t, project, "plain", ipam.DrainKeep)
	b.release(t, "in-prod")
	require.NoError(t, b.DeletePool(b.ctx, project, "prod", usecase.Request{}))
	b.looks(t)
	require.Equal(t, []string{"all/gold-pool", "class/gold-pool"}, b.alerts(t), "what is drained is to become empty, and what is gone is not full")

	_, err := b.PatchAlertRule(b.ctx, project, "all", usecase.Request{}, func(r ipam.AlertRule) (ipam.AlertRule, error) {
		r.Spec.Name = "elsewhere"
		return r, nil
	})
	require.NoError(t, err)
	_, err = b.EvaluateAlerts(b.ctx)
	require.NoError(t, err)
	require.Equal(t, []string{"class/gold-pool"}, b.alerts(t), "at once")
	require.NoError(t, b.DeleteAlertRule(b.ctx, project, "class", usecase.Request{}))
	require.Empty(t, b.alerts(t))
	require.Contains(t, b.toldOfAlerts(t), "ends class/gold-pool")
	require.Zero(t, b.looks(t))
}

func TestRecreatedPoolGetsANewAlert(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.rule(t, onPools("full", 100))
	for range 2 {
		b.pool(t, root("net", "10.0.0.0/32"))
		b.claim(t, claim("c", "net", 32))
		b.looks(t)
		require.Equal(t, b.clock.read(), b.alertsNow(t)[0].Since)
		b.release(t, "c")
		require.NoError(t, b.DeletePool(b.ctx, project, "net", usecase.Request{}))
		require.Nil(t, b.alertsNow(t)[0].Now, "it is gone")
	}
	require.Equal(t, []string{"begins full/net", "ends full/net", "begins full/net"}, b.toldOfAlerts(t))
}

func TestAlertRuleWithManyPoolsIsEvaluatedInBatches(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	const many = 205
	name := func(i int) string { return fmt.Sprintf("p-%03d", i) }
	for i := range many {
		b.pool(t, child(name(i), "net", 32))
	}
	ends := []int{0, many - 1}
	for _, i := range ends {
		b.claim(t, claim("c-"+name(i), name(i), 32))
	}
	b.rule(t, onPools("full", 100))
	require.EqualValues(t, 1, b.looks(t))
	rule, err := b.GetAlertRule(b.ctx, project, "full")
	require.NoError(t, err)
	require.Zero(t, rule.CheckedAt, "there is more")
	changed, err := b.EvaluateAlerts(b.ctx)
	require.NoError(t, err)
	require.EqualValues(t, 1, changed, "it goes on at once")
	require.Equal(t, []string{"full/p-000", "full/p-204"}, b.alerts(t))
	b.release(t, "c-"+name(many-1))
	require.EqualValues(t, 1, b.looks(t), "what has an alert is looked at first")
	require.Equal(t, []string{"full/p-000"}, b.alerts(t))
}

func TestAlertRuleCoversQuotas(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	two, none := int64(2), int64(0)
	for name, limits := range map[string]ipam.QuotaLimits{"few": {Claims: &two, Pools: &two}, "none": {Pools: &none}} {
		_, err := b.PutQuota(b.ctx, project, ipam.Quota{Metadata: meta(name), Spec: ipam.QuotaSpec{Limits: limits}}, usecase.Request{})
		require.NoError(t, err)
	}
	b.rule(t, ipam.AlertRule{Metadata: meta("most"), Spec: ipam.AlertRuleSpec{About: ipam.AboutQuotas, Percent: 90}})
	b.rule(t, ipam.AlertRule{Metadata: meta("one"), Spec: ipam.AlertRuleSpec{About: ipam.AboutQuotas, Percent: 50, Name: "few"}})
	b.looks(t)
	require.Equal(t, []string{"most/none", "one/few"}, b.alerts(t), "a limit below what is used is used up")
	b.claim(t, claim("a", "net", 32))
	b.claim(t, claim("b", "net", 32))
	b.looks(t)
	require.Equal(t, []string{"most/few", "most/none", "one/few"}, b.alerts(t))
	b.release(t, "b")
	b.looks(t)
	require.Equal(t, []string{"most/none", "one/few"}, b.alerts(t))
	require.NoError(t, b.DeleteQuota(b.ctx, project, "few", usecase.Request{}))
	b.looks(t)
	require.Equal(t, []string{"most/none"}, b.alerts(t))
}

func TestAlertSumsTheRegionsOfAPool(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.served(t, "net", "10.0.0.0/30")
	w.rule(t, onPools("most", 75))
	made, err := w.in[eu].CreateAlertRule(w.ctx, project, onPools("abroad", 50), usecase.Request{})
	require.NoError(t, err)
	require.Equal(t, eu, made.Value.Region)
	_, err = w.in[us].CreateAlertRule(w.ctx, project, onPools("abroad", 50), usecase.Request{})
	refused(t, err, ipam.CodeAlreadyExists)
	for i, r := range []string{region, eu, us} {
		_, err := w.claimIn(w.ctx, r, fmt.Sprint("c-", i), "net", 32)
		require.NoError(t, err)
		if i == 1 {
			w.looks(t)
			require.Empty(t, w.alerts(t), "two of four addresses are held, wherever")
		}
	}
	require.EqualValues(t, 1, w.looks(t))
	require.Equal(t, []string{"most/net"}, w.alerts(t), "the other rule is another region's")
	for _, r := range []string{eu, us} {
		_, err := w.in[r].EvaluateAlerts(w.ctx)
		require.NoError(t, err)
	}
	require.Equal(t, []string{"abroad/net", "most/net"}, w.alerts(t))
}

func TestConcurrentAlertScansRecordEachAlertOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other, _ := b.server(t)
	b.pool(t, root("net", "10.0.0.0/32"))
	for i := range 5 {
		b.rule(t, onPools(fmt.Sprint("r-", i), 100))
	}
	for round := range 4 {
		if round%2 == 0 {
			b.claim(t, claim("c", "net", 32))
		} else {
			b.release(t, "c")
		}
		b.clock.move(pastALook)
		var both sync.WaitGroup
		for _, s := range []*alloc.Service{b.Service, other} {
			both.Go(func() {
				_, err := s.EvaluateAlerts(b.ctx)
				require.NoError(t, err)
			})
		}
		both.Wait()
		require.Len(t, b.toldOfAlerts(t), 5*(round+1))
	}
}

func TestAlertScanWithUnknownOutcomeCountsOnce(t *testing.T) {
	t.Parallel()
	for _, f := range []fault{lostBefore, lostAfter, landsLate} {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.pool(t, root("net", "10.0.0.0/32"))
			b.claim(t, claim("c", "net", 32))
			b.rule(t, onPools("full", 100))
			store, _ := b.store(t)
			broken := &faulty{Store: store}
			s := b.serve(broken)
			broken.next(f)
			_, err := s.EvaluateAlerts(b.ctx)
			require.Error(t, err)
			require.Zero(t, broken.left())
			b.looks(t)
			b.looks(t)
			require.Equal(t, []string{"begins full/net"}, b.toldOfAlerts(t))
			require.Equal(t, []string{"full/net"}, b.alerts(t))
			b.release(t, "c")
			b.looks(t)
			require.Equal(t, []string{"begins full/net", "ends full/net"}, b.toldOfAlerts(t))
		})
	}
}

func TestWebhooksDeliverAlerts(t *testing.T) {
	t.Parallel()
	b, s := hooked(t)
	r := receive(t, ok)
	b.hook(t, ipam.WebhookSpec{URL: r.URL, Kinds: []string{trail.KindAlert}})
	b.pool(t, root("small", "192.168.0.0/32"))
	b.rule(t, onPools("full", 100))
	b.claim(t, claim("c", "small", 32))
	look := func() {
		s.ahead.Add(int64(pastALook))
		_, err := s.EvaluateAlerts(b.ctx)
		require.NoError(t, err)
	}
	look()
	pass(t, b, func() bool { return len(r.changes()) == 1 }, s)
	b.release(t, "c")
	look()
	pass(t, b, func() bool { return len(r.changes()) == 2 }, s)
	require.Equal(t, []string{"Put Alert full/small", "Delete Alert full/small"}, r.changes())
}

func TestInvalidAlertRulesAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	create := func(r ipam.AlertRule) error {
		_, err := b.CreateAlertRule(b.ctx, project, r, usecase.Request{})
		return err
	}
	quotas := func(s *ipam.AlertRuleSpec) { s.About = ipam.AboutQuotas }
	runway := func(d time.Duration) func(*ipam.AlertRuleSpec) {
		return func(s *ipam.AlertRuleSpec) { s.Runway = new(d) }
	}
	for _, r := range []ipam.AlertRule{
		onPools("r", 80, runway(time.Hour)), onPools("r", 0, runway(0)), onPools("r", 0, runway(time.Minute)), onPools("r", 0, runway(ipam.MaxDuration+1)),
		onPools("r", 0, quotas, runway(time.Hour)),
		onPools("r", 0), onPools("r", 101), onPools("r", 5, func(s *ipam.AlertRuleSpec) { s.Name = "No" }),
		onPools("r", 5, quotas, func(s *ipam.AlertRuleSpec) { s.ClassName = "gold" }), onPools("r", 5, quotas, func(s *ipam.AlertRuleSpec) { s.LabelSelector = "a" }),
	} {
		refused(t, create(r), ipam.CodeInvalidArgument)
	}
	for i := range 20 {
		require.NoError(t, create(onPools(fmt.Sprint("r-", i), 1)))
	}
	refused(t, create(onPools("r-1", 1)), ipam.CodeAlreadyExists)
	refusedAsFull(t, create(onPools("more", 1)), "20")
	require.NoError(t, b.DeleteAlertRule(b.ctx, project, "r-1", usecase.Request{}))
	require.NoError(t, create(onPools("more", 1)))

	provider := tenancy.WithPrincipal(t.Context(), tenancy.Principal{Subject: "x", Method: "dev", Roles: map[string]tenancy.Role{project: tenancy.Provider}})
	require.NoError(t, b.DeleteAlertRule(provider, project, "more", usecase.Request{}))
	consumer := tenancy.WithPrincipal(t.Context(), tenancy.Principal{Subject: "x", Method: "dev", Roles: map[string]tenancy.Role{project: tenancy.Consumer}})
	refused(t, b.DeleteAlertRule(consumer, project, "r-2", usecase.Request{}), ipam.CodePermissionDenied)
	_, err := b.ListAlerts(consumer, project, 1, "", usecase.Reading{})
	require.NoError(t, err)
}

func TestAlertMetricsCountAlertsAndLag(t *testing.T) {
	t.Parallel()
	b := setup(t)
	count, late := b.AlertCounts()
	require.Nil(t, count)
	require.Zero(t, late)
	b.pool(t, root("net", "10.0.0.0/32"))
	b.claim(t, claim("c", "net", 32))
	b.rule(t, onPools("full", 100))
	b.looks(t)
	count, late = b.AlertCounts()
	require.Equal(t, map[ipam.AlertAbout]int64{ipam.AboutPools: 1, ipam.AboutQuotas: 0}, count)
	require.Zero(t, late)

	store, _ := b.store(t)
	broken := &faulty{Store: store}
	s := b.serve(broken)
	broken.next(lostBefore)
	b.clock.move(pastALook)
	_, err := s.EvaluateAlerts(b.ctx)
	require.Error(t, err)
	_, late = s.AlertCounts()
	require.Equal(t, pastALook-30*time.Second, late)
}
