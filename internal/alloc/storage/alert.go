package storage

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// AlertReader reads alert rules and current alerts.
type AlertReader interface {
	AlertRuleGet(ctx context.Context, project ProjectKey, name string) (ipam.AlertRule, error)
	// AlertRuleList returns a project's alert rules in all regions, in name order, after a name.
	AlertRuleList(ctx context.Context, project ProjectKey, after string, limit int) ([]ipam.AlertRule, error)
	// AlertRulesDue returns the alert rules in the server's region that are due for a check, the longest overdue first. The rules have no project
	// names.
	AlertRulesDue(ctx context.Context, now time.Time, limit int) ([]ipam.AlertRule, error)

	// AlertList returns a project's alerts in all regions, in the order of rule and subject, after the given alert.
	AlertList(ctx context.Context, project ProjectKey, after AlertRef, limit int) ([]ipam.Alert, error)
	AlertsNamed(ctx context.Context, project ProjectKey, refs []AlertRef) ([]ipam.Alert, error)
	// AlertsOf returns all alerts for a rule.
	AlertsOf(ctx context.Context, rule ipam.AlertRule) ([]ipam.Alert, error)
	// AlertCount counts the alerts in the server's region by the kind of subject.
	AlertCount(ctx context.Context) (map[ipam.AlertAbout]int64, error)
}

// AlertRef names an alert in its project.
type AlertRef struct{ Rule, Subject string }

// AlertChanges contains the changes to alerts. Every change to an alert also changes its rule's row, so that concurrent changes conflict.
type AlertChanges struct {
	AlertRuleInsert *ipam.AlertRule
	AlertRuleUpdate *AlertRuleUpdate
	AlertRuleDelete *ipam.AlertRule // only if it still has the epoch (version) that was read; also deletes the rule's alerts

	AlertBegin, AlertEnd []ipam.Alert
}

// AlertRuleUpdate replaces the mutable fields in an alert rule that still has the epoch (version) Was.
type AlertRuleUpdate struct {
	Was ipam.ID
	Now ipam.AlertRule
}

// AlertsChange reports whether the changes affect an alert or a rule.
func (ch AlertChanges) AlertsChange() bool {
	return ch.AlertRuleInsert != nil || ch.AlertRuleUpdate != nil || ch.AlertRuleDelete != nil || len(ch.AlertBegin)+len(ch.AlertEnd) > 0
}
