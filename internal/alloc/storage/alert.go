package storage

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// AlertReader reads alert rules, and the alerts that there are.
type AlertReader interface {
	AlertRuleGet(ctx context.Context, project ProjectKey, name string) (ipam.AlertRule, error)
	// AlertRuleList answers the alert rules of a project, of all regions, by name after a name.
	AlertRuleList(ctx context.Context, project ProjectKey, after string, limit int) ([]ipam.AlertRule, error)
	// AlertRulesDue answers some alert rules in the server's region that a server is to look at, the longest past first, without the names of their projects.
	AlertRulesDue(ctx context.Context, now time.Time, limit int) ([]ipam.AlertRule, error)

	// AlertList answers the alerts of a project, of all regions, by rule and subject after those of another.
	AlertList(ctx context.Context, project ProjectKey, after AlertRef, limit int) ([]ipam.Alert, error)
	AlertsNamed(ctx context.Context, project ProjectKey, refs []AlertRef) ([]ipam.Alert, error)
	// AlertsOf answers all alerts of a rule.
	AlertsOf(ctx context.Context, rule ipam.AlertRule) ([]ipam.Alert, error)
	// AlertCount counts the alerts of the server's region by what they are about.
	AlertCount(ctx context.Context) (map[ipam.AlertAbout]int64, error)
}

// AlertRef names an alert in its project.
type AlertRef struct{ Rule, Subject string }

// AlertChanges is the part of Changes about alerts. An alert is changed with the row of its rule, by which all meet who change anything of it.
type AlertChanges struct {
	AlertRuleInsert *ipam.AlertRule
	AlertRuleUpdate *AlertRuleUpdate
	AlertRuleDelete *ipam.AlertRule // at the epoch that was read; its alerts go with it

	AlertBegin, AlertEnd []ipam.Alert
}

// AlertRuleUpdate replaces what can change of an alert rule that still has epoch Was.
type AlertRuleUpdate struct {
	Was ipam.ID
	Now ipam.AlertRule
}

// AlertsChange reports whether anything of alerts changes.
func (ch AlertChanges) AlertsChange() bool {
	return ch.AlertRuleInsert != nil || ch.AlertRuleUpdate != nil || ch.AlertRuleDelete != nil || len(ch.AlertBegin)+len(ch.AlertEnd) > 0
}
