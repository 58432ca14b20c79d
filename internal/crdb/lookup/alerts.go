package lookup

import (
	"cmp"
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

func alertRuleIn(project storage.ProjectKey) pgx.RowToFunc[ipam.AlertRule] {
	return func(row pgx.CollectableRow) (ipam.AlertRule, error) {
		r, err := rows.AlertRules.Scan(row)
		r.Project = project.Name
		return r, err
	}
}

// AlertRuleGet implements storage.Reader.
func (r Reader) AlertRuleGet(ctx context.Context, project storage.ProjectKey, name string) (ipam.AlertRule, error) {
	return readOne(ctx, r, "alert_rule_get", alertRuleIn(project), NotFound("Alert rule %s/%s was not found.", project.Name, name),
		r.regions.Everywhere(), project.ID, name)
}

// AlertRuleList implements storage.Reader.
func (r Reader) AlertRuleList(ctx context.Context, project storage.ProjectKey, after string, limit int) ([]ipam.AlertRule, error) {
	return listEverywhere(ctx, r, "alert_rule_list", alertRuleIn(project), r.regions.Everywhere(), byName, limit, project.ID, after, limit)
}

// AlertRulesDue implements storage.Reader.
func (r Reader) AlertRulesDue(ctx context.Context, now time.Time, limit int) ([]ipam.AlertRule, error) {
	return List(ctx, r, "alert_rule_due", rows.AlertRules.Scan, r.region, now, limit)
}

// AlertList implements storage.Reader.
func (r Reader) AlertList(ctx context.Context, project storage.ProjectKey, after storage.AlertRef, limit int) ([]ipam.Alert, error) {
	byRule := func(a, b ipam.Alert) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Subject, b.Subject))
	}
	return listEverywhere(ctx, r, "alert_list", rows.Alerts.Scan, r.regions.Everywhere(), byRule, limit, project.ID, after.Rule, after.Subject, limit)
}

// AlertsNamed implements storage.Reader.
func (r Reader) AlertsNamed(ctx context.Context, project storage.ProjectKey, refs []storage.AlertRef) ([]ipam.Alert, error) {
	var rules, subjects []string
	for _, ref := range refs {
		rules, subjects = append(rules, ref.Rule), append(subjects, ref.Subject)
	}
	return List(ctx, r, "alert_list_named", rows.Alerts.Scan, r.regions.Everywhere(), project.ID, rules, subjects)
}

// AlertsOf implements storage.Reader.
func (r Reader) AlertsOf(ctx context.Context, rule ipam.AlertRule) ([]ipam.Alert, error) {
	return List(ctx, r, "alert_list_of", rows.Alerts.Scan, rule.Region, rule.ProjectID, rule.Name)
}

// AlertCount implements storage.Reader.
func (r Reader) AlertCount(ctx context.Context) (map[ipam.AlertAbout]int64, error) {
	type count struct {
		About string
		N     int64
	}
	found, err := List(ctx, r, "alert_count", pgx.RowToStructByPos[count], r.region)
	counts := map[ipam.AlertAbout]int64{}
	for _, c := range found {
		counts[ipam.AlertAbout(c.About)] = c.N
	}
	return counts, err
}
