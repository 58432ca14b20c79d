package api

import (
	"context"
	"encoding/json"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// alertHandlers serves alert rules and alerts.
type alertHandlers struct {
	use     Alerts
	changes Changes
}

func (s alertHandlers) ListAlertRules(c echo.Context, project string, p gen.ListAlertRulesParams) error {
	return list(c, p.Limit, p.Cursor, project, s.use.ListAlertRules, codec.AlertRuleOf)
}

func (s alertHandlers) CreateAlertRule(c echo.Context, project string, p gen.CreateAlertRuleParams) error {
	return create(c, post{project: project, key: p.IdempotencyKey, dryRun: p.DryRun}, codec.NewAlertRule, s.use.CreateAlertRule, codec.AlertRuleOf)
}

func (s alertHandlers) GetAlertRule(c echo.Context, project, rule string) error {
	return get(c, project, rule, s.use.GetAlertRule, codec.AlertRuleOf)
}

func (s alertHandlers) PatchAlertRule(c echo.Context, project, rule string, p gen.PatchAlertRuleParams) error {
	return patch(c, p.IfMatch, p.DryRun, func(ctx context.Context, body json.RawMessage, r usecase.Request) (ipam.AlertRule, error) {
		return s.use.PatchAlertRule(ctx, project, rule, r, codec.PatchAlertRule(body))
	}, codec.AlertRuleOf)
}

func (s alertHandlers) DeleteAlertRule(c echo.Context, project, rule string, p gen.DeleteAlertRuleParams) error {
	return remove(c, p.IfMatch, p.DryRun, project, rule, s.use.DeleteAlertRule)
}

func (s alertHandlers) ListAlerts(c echo.Context, project string, p gen.ListAlertsParams) error {
	return followed(c, s.changes, p.Limit, p.Cursor, project, s.use.ListAlerts, codec.AlertOf)
}
