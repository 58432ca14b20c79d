package storetest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// alertRule returns an alert rule with a value in every field.
func (s *suite) alertRule(p ipam.Project, name string) ipam.AlertRule {
	return ipam.AlertRule{
		Metadata: s.meta(p.Name, name), ProjectID: p.UID, Epoch: ipam.NewID(), DueAt: born.Add(time.Hour), After: "pool", CheckedAt: born,
		Spec: ipam.AlertRuleSpec{
			About: ipam.AboutPools, Percent: 80, Runway: new(time.Hour), Name: "prod", ClassName: "gold", LabelSelector: "a",
			Labels: &ipam.Selector{MatchExpressions: []ipam.Requirement{{Key: "a", Operator: ipam.OpExists}}},
		},
	}
}

func (s *suite) alert(r ipam.AlertRule, subject string) ipam.Alert {
	return ipam.Alert{
		Region: r.Region, ProjectID: r.ProjectID, RuleID: r.UID, Rule: r.Name, About: r.Spec.About, SubjectID: ipam.NewID(), Subject: subject, Since: born, Began: 8125, RunsOutAt: born.Add(time.Hour),
	}
}

// writeAlerts writes changes of alert rules and alerts to the store.
func (s *suite) writeAlerts(ch storage.AlertChanges) { s.write(storage.Changes{AlertChanges: ch}) }

var alerts = map[string]func(*suite){
	"AllFieldsRoundTrip": func(s *suite) {
		e := s.estate()
		full, bare := s.alertRule(e.project, "full"), s.alertRule(e.project, "bare")
		bare.Labels, bare.Annotations, bare.After, bare.CheckedAt = nil, nil, "", time.Time{}
		bare.Spec = ipam.AlertRuleSpec{About: ipam.AboutQuotas, Percent: 1}
		for _, r := range []ipam.AlertRule{full, bare} {
			s.writeAlerts(storage.AlertChanges{AlertRuleInsert: &r})
			reads(s, r)(s.Store.AlertRuleGet(s.ctx, e.key, r.Name))
		}
		now := full
		now.Epoch, now.Revision, now.DueAt, now.After, now.CheckedAt, now.Spec.Percent = ipam.NewID(), ipam.NewID(), born, "", born.Add(time.Minute), 90
		s.writeAlerts(storage.AlertChanges{AlertRuleUpdate: &storage.AlertRuleUpdate{Was: full.Epoch, Now: now}})
		reads(s, now)(s.Store.AlertRuleGet(s.ctx, e.key, full.Name))
	},
	"RulesOfAProjectAreListedByNameInPages": func(s *suite) {
		e := s.estate()
		for _, name := range names {
			for _, r := range []ipam.AlertRule{s.alertRule(e.project, name), s.alertRule(e.other, name+"x")} {
				s.writeAlerts(storage.AlertChanges{AlertRuleInsert: &r})
			}
		}
		inPages(s, "", func(after string, limit int) ([]ipam.AlertRule, error) {
			return s.Store.AlertRuleList(s.ctx, e.key, after, limit)
		}, func(r ipam.AlertRule) string { return r.Name }, names)
	},
	"DueRulesAreFound": func(s *suite) {
		e := s.estate()
		late, later, next := s.alertRule(e.project, "late"), s.alertRule(e.project, "later"), s.alertRule(e.project, "next")
		late.DueAt, later.DueAt = born.Add(-time.Hour), born
		for _, r := range []ipam.AlertRule{later, late, next} {
			s.writeAlerts(storage.AlertChanges{AlertRuleInsert: &r})
		}
		found, err := s.Store.AlertRulesDue(s.ctx, born, 10)
		require.NoError(s, err)
		require.Len(s, found, 2)
		require.Equal(s, []string{"late", "later"}, []string{found[0].Name, found[1].Name})
	},
	"AlertsRoundTripAndAreDeletedWithTheirRule": func(s *suite) {
		e := s.estate()
		one, two := s.alertRule(e.project, "one"), s.alertRule(e.project, "two")
		a, b, c := s.alert(one, "a"), s.alert(one, "b"), s.alert(two, "a")
		s.writeAlerts(storage.AlertChanges{AlertRuleInsert: &one, AlertBegin: []ipam.Alert{b, a}})
		s.writeAlerts(storage.AlertChanges{AlertRuleInsert: &two, AlertBegin: []ipam.Alert{c}})
		place := func(a ipam.Alert) storage.AlertRef { return storage.AlertRef{Rule: a.Rule, Subject: a.Subject} }
		inPages(s, storage.AlertRef{}, func(after storage.AlertRef, limit int) ([]ipam.Alert, error) {
			return s.Store.AlertList(s.ctx, e.key, after, limit)
		}, place, []storage.AlertRef{place(a), place(b), place(c)})
		list, err := s.Store.AlertList(s.ctx, e.key, storage.AlertRef{}, 1)
		require.NoError(s, err)
		require.Equal(s, []ipam.Alert{a}, list)
		list, err = s.Store.AlertsNamed(s.ctx, e.key, []storage.AlertRef{place(c), {Rule: "two", Subject: "b"}})
		require.NoError(s, err)
		require.Equal(s, []ipam.Alert{c}, list)
		count, err := s.Store.AlertCount(s.ctx)
		require.NoError(s, err)
		require.Equal(s, map[ipam.AlertAbout]int64{ipam.AboutPools: 3}, count)
		got, err := s.Store.AlertRuleGet(s.ctx, e.key, "one")
		require.NoError(s, err)
		require.EqualValues(s, 2, got.Alerts)

		s.writeAlerts(storage.AlertChanges{AlertEnd: []ipam.Alert{a}})
		list, err = s.Store.AlertsOf(s.ctx, one)
		require.NoError(s, err)
		require.Equal(s, []ipam.Alert{b}, list)
		s.writeAlerts(storage.AlertChanges{AlertRuleDelete: &one})
		list, err = s.Store.AlertList(s.ctx, e.key, storage.AlertRef{}, 10)
		require.NoError(s, err)
		require.Equal(s, []ipam.Alert{c}, list)
	},
}
