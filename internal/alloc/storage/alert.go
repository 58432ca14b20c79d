package storage

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// AlertReader reads alert rules and current alerts.
type AlertReader interface {
	AlertRuleGet(ctx context.Context, project ProjectKey, name string) (ipam.AlertRule, error)
	// AlertRuleList returns a project's alert rules in all regions, by name after a name.
	AlertRuleList(ctx context.Context, project ProjectKey, after string, limit int) ([]ipam.AlertRule, error)
	// AlertRulesDue returns alert rules in the server's region with a due check, the longest overdue first. It leaves out project names.
	AlertRulesDue(ctx context.Context, now time.Time, limit int) ([]ipam.AlertRule, error)

	// AlertList returns a project's alerts in all regions, ordered by rule and subject, after another alert.
	AlertList(ctx context.Context, project ProjectKey, after AlertRef, limit int) ([]ipam.Alert, error)
	AlertsNamed(ctx context.Context, project ProjectKey, refs []AlertRef) ([]ipam.Alert, error)
	// AlertsOf returns all alerts of a rule.
	AlertsOf(ctx context.Context, rule ipam.AlertRule) ([]ipam.Alert, error)
	// AlertCount counts the alerts in the server's region by kind of subject.
	AlertCount(ctx context.Context) (map[ipam.AlertAbout]int64, error)
}

// AlertRef names an alert in its project.
type AlertRef struct{ Rule, Subject string }

// AlertChanges contains the changes to alerts. Every change to an alert also changes its rule's row, so that concurrent changes conflict.
type AlertChanges struct {
	AlertRuleInsert *ipam.AlertRule
	AlertRuleUpdate *AlertRuleUpdate
	AlertRuleDelete *ipam.AlertRule // at the epoch that was read; deletes the rule's alerts too

	AlertBegin, AlertEnd []ipam.Alert
}

// AlertRuleUpdate replaces the mutable fields in an alert rule that still has epoch Was.
type AlertRuleUpdate struct {
	Was ipam.ID
	Now ipam.AlertRule
}

// AlertsChange reports whether the changes concern any alert or rule.
func (ch AlertChanges) AlertsChange() bool {
	return ch.AlertRuleInsert != nil || ch.AlertRuleUpdate != nil || ch.AlertRuleDelete != nil || len(ch.AlertBegin)+len(ch.AlertEnd) > 0
}
