package crdb_test

import (
	"context"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

func alertRule() ipam.AlertRule {
	return ipam.AlertRule{Metadata: ipam.Metadata{Name: "nearly-full"}, Spec: ipam.AlertRuleSpec{About: ipam.AboutPools, Percent: 80}}
}

func withAlertRule(t *testing.T, h *house, p string) {
	t.Helper()
	_, err := h.svc.CreateAlertRule(admin(t), p, alertRule(), usecase.Request{})
	require.NoError(t, err)
}

// withAlert prepares an alert rule that has an alert.
func withAlert(t *testing.T, h *house, p string) {
	t.Helper()
	withAlertRule(t, h, p)
	r, err := h.svc.GetAlertRule(admin(t), p, "nearly-full")
	require.NoError(t, err)
	require.NoError(t, h.store.InTx(admin(t), "alert_look", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
		return tx.Write(ctx, storage.Changes{AlertChanges: storage.AlertChanges{AlertBegin: []ipam.Alert{{
			Region: r.Region, ProjectID: r.ProjectID, RuleID: r.UID, Rule: r.Name, About: r.Spec.About, SubjectID: ipam.NewID(), Subject: "prod", Since: tx.Now(), Began: 9000,
		}}}})
	}))
}

func init() {
	getRule := func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
		r, err := svc.GetAlertRule(ctx, p, "nearly-full")
		return r, err
	}
	maps.Copy(operations, map[string]operation{
		"CreateAlertRule": {tx: "alert_rule_create", key: "key", prepare: nothing,
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				made, err := svc.CreateAlertRule(ctx, p, alertRule(), r)
				return made.Value, err
			}, stored: getRule},
		"PatchAlertRule": {tx: "alert_rule_patch", prepare: withAlertRule,
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return answer(svc.PatchAlertRule(ctx, p, "nearly-full", r, func(a ipam.AlertRule) (ipam.AlertRule, error) { label(&a.Metadata); return a, nil }))
			}, stored: getRule},
		"DeleteAlertRule": {tx: "alert_rule_delete", prepare: withAlert,
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return none(svc.DeleteAlertRule(ctx, p, "nearly-full", r))
			},
			stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
				return gone(svc.GetAlertRule(ctx, p, "nearly-full"))
			}},
	})
}
