package rows

import (
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

type alertRuleRow struct {
	ipam.AlertRule
	metadata
	spec string
}

// AlertRules maps alert rules to rows. A rule that is read lacks the name of its project.
var AlertRules = kindOf(slices.Concat(
	recordColumns(func(r *alertRuleRow) *ipam.Metadata { return &r.Metadata }),
	labelColumns(func(r *alertRuleRow) *ipam.Metadata { return &r.Metadata }, func(r *alertRuleRow) *metadata { return &r.metadata }),
	table[alertRuleRow]{
		plain("region", func(r *alertRuleRow) *string { return &r.Region }),
		id("project_id", func(r *alertRuleRow) *ipam.ID { return &r.ProjectID }),
		plain("name", func(r *alertRuleRow) *string { return &r.Name }),
		document("spec", func(r *alertRuleRow) *ipam.AlertRuleSpec { return &r.Spec }, func(r *alertRuleRow) *string { return &r.spec }),
		moment("due_at", func(r *alertRuleRow) *time.Time { return &r.DueAt }),
		plain("after_name", func(r *alertRuleRow) *string { return &r.After }),
		maybeMoment("looked_at", func(r *alertRuleRow) *time.Time { return &r.CheckedAt }),
		id("epoch", func(r *alertRuleRow) *ipam.ID { return &r.Epoch }),
		plain("alerts", func(r *alertRuleRow) *int64 { return &r.Alerts }),
	},
), func(r ipam.AlertRule, d *documents) alertRuleRow {
	return alertRuleRow{r, d.metadata(r.Metadata), d.of(r.Spec)}
}, func(r *alertRuleRow) (ipam.AlertRule, error) {
	normalize(&r.Metadata)
	return r.AlertRule, nil
})

// Alerts maps alerts to rows. An alert that is read lacks the fields of its rule.
var Alerts = kindOf(table[ipam.Alert]{
	plain("region", func(a *ipam.Alert) *string { return &a.Region }),
	id("project_id", func(a *ipam.Alert) *ipam.ID { return &a.ProjectID }),
	plain("rule", func(a *ipam.Alert) *string { return &a.Rule }),
	plain("subject", func(a *ipam.Alert) *string { return &a.Subject }),
	id("rule_id", func(a *ipam.Alert) *ipam.ID { return &a.RuleID }),
	id("subject_id", func(a *ipam.Alert) *ipam.ID { return &a.SubjectID }),
	text("about", func(a *ipam.Alert) *ipam.AlertAbout { return &a.About }),
	moment("since", func(a *ipam.Alert) *time.Time { return &a.Since }),
	plain("began", func(a *ipam.Alert) *int64 { return &a.Began }),
	maybeMoment("runs_out_at", func(a *ipam.Alert) *time.Time { return &a.RunsOutAt }),
}, func(a ipam.Alert, _ *documents) ipam.Alert { return a }, func(a *ipam.Alert) (ipam.Alert, error) { return *a, nil })
