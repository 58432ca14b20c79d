package write

import (
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/rows"
)

// changeAlerts changes a rule's row before its alerts, because this row is also the lock on the alerts.
func (w *Statements) changeAlerts(ch storage.AlertChanges) {
	if r := ch.AlertRuleDelete; r != nil {
		w.hit("alert_rule_delete", 1, r.Region, r.ProjectID, r.Name, r.Epoch)
		w.unchecked("alert_delete_of", r.Region, r.ProjectID, r.Name)
	}
	if r := ch.AlertRuleInsert; r != nil {
		hitRow(w, "alert_rule_insert", rows.AlertRules, *r)
	}
	if u := ch.AlertRuleUpdate; u != nil {
		hitRow(w, "alert_rule_update", rows.AlertRules, u.Now, u.Now.Region, u.Now.ProjectID, u.Now.Name, u.Was)
	}
	for _, a := range ch.AlertEnd {
		w.hit("alert_delete", 1, a.Region, a.ProjectID, a.Rule, a.Subject)
	}
	for _, a := range ch.AlertBegin {
		hitRow(w, "alert_insert", rows.Alerts, a)
	}
}
