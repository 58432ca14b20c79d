package rows

import (
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

type alertRuleRow = labelled[ipam.AlertRule]

// AlertRules maps alert rules to rows. A rule that is read lacks its project's name.
var AlertRules = labelledKind(func(v *ipam.AlertRule) *ipam.Metadata { return &v.Metadata }, table[alertRuleRow]{
	plain("region", func(r *alertRuleRow) *string { return &r.object.Region }),
	id("project_id", func(r *alertRuleRow) *ipam.ID { return &r.object.ProjectID }),
	plain("name", func(r *alertRuleRow) *string { return &r.object.Name }),
	document("spec", func(r *alertRuleRow) *ipam.AlertRuleSpec { return &r.object.Spec }, func(r *alertRuleRow) *string { return &r.spec }),
	moment("due_at", func(r *alertRuleRow) *time.Time { return &r.object.DueAt }),
	plain("after_name", func(r *alertRuleRow) *string { return &r.object.After }),
	nullableMoment("looked_at", func(r *alertRuleRow) *time.Time { return &r.object.CheckedAt }),
	id("epoch", func(r *alertRuleRow) *ipam.ID { return &r.object.Epoch }),
	plain("alerts", func(r *alertRuleRow) *int64 { return &r.object.Alerts }),
}, func(r *alertRuleRow, d *documents) { r.spec = d.encode(r.object.Spec) })

// Alerts maps alerts to rows. An alert that is read lacks its rule's fields.
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
	nullableMoment("runs_out_at", func(a *ipam.Alert) *time.Time { return &a.RunsOutAt }),
}, asItIs, asRead)
