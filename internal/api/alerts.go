package api

import (
	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
)

func (s *server) ListAlertRules(c echo.Context, project string, p gen.ListAlertRulesParams) error {
	return list(c, p.Limit, p.Cursor, project, s.use.ListAlertRules, codec.AlertRuleOf)
}

func (s *server) CreateAlertRule(c echo.Context, project string, p gen.CreateAlertRuleParams) error {
	return create(c, post{project: project, key: p.IdempotencyKey, dryRun: p.DryRun}, codec.NewAlertRule, s.use.CreateAlertRule, codec.AlertRuleOf)
}

func (s *server) GetAlertRule(c echo.Context, project, rule string) error {
	return get(c, project, rule, s.use.GetAlertRule, codec.AlertRuleOf)
}

func (s *server) PatchAlertRule(c echo.Context, project, rule string, p gen.PatchAlertRuleParams) error {
	return patch(c, p.IfMatch, p.DryRun, project, rule, codec.PatchAlertRule, s.use.PatchAlertRule, codec.AlertRuleOf)
}

func (s *server) DeleteAlertRule(c echo.Context, project, rule string, p gen.DeleteAlertRuleParams) error {
	return remove(c, p.IfMatch, p.DryRun, project, rule, s.use.DeleteAlertRule)
}

func (s *server) ListAlerts(c echo.Context, project string, p gen.ListAlertsParams) error {
	return listFollowed(c, s.use, p.Limit, p.Cursor, project, s.use.ListAlerts, codec.AlertOf)
}
