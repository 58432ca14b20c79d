package cli_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAlertRuleIsCreatedFromItsFlags(t *testing.T) {
	t.Parallel()
	d := answering(t, created(example(t, "AlertRuleCreated")))
	d.done("alert-rule", "create", "nearly-full", "--about", "pools", "--percent", "80%", "--class", "gold", "--only", "prod", "--selector", "env=prod")
	require.JSONEq(t, `{"metadata":{"name":"nearly-full"},
		"spec":{"about":"Pools","percent":80,"className":"gold","resourceName":"prod","labelSelector":"env=prod"}}`, string(d.requests()[0].body))
}

func TestAlertRuleTakesEitherRunwayOrPercent(t *testing.T) {
	t.Parallel()
	d := answering(t, created(example(t, "AlertRuleCreated")))
	d.done("alert-rule", "create", "soon", "--about", "Pools", "--runway", "168h")
	require.JSONEq(t, `{"metadata":{"name":"soon"},"spec":{"about":"Pools","runway":"168h"}}`, string(d.requests()[0].body))
	for _, args := range [][]string{{}, {"--percent", "80", "--runway", "168h"}} {
		d := answering(t)
		r := d.run(append([]string{"alert-rule", "create", "soon", "--about", "Pools"}, args...)...)
		require.Equal(t, 2, r.code, r.err)
		require.Contains(t, r.err, "[percent runway]")
		require.Empty(t, d.requests())
	}
}

func TestAlertRuleChangesFromPercentToRunway(t *testing.T) {
	t.Parallel()
	d := answering(t, ok(example(t, "AlertRule")))
	d.done("alert-rule", "set", "nearly-full", "--percent", "none", "--runway", "168h")
	all := d.requests()
	var patch map[string]any
	require.NoError(t, json.Unmarshal(all[len(all)-1].body, &patch))
	require.Equal(t, map[string]any{"percent": nil, "runway": "168h"}, patch["spec"])
}

func TestInvalidAlertRulePercentIsRefused(t *testing.T) {
	t.Parallel()
	for _, percent := range []string{"0", "101", "half", "80.5"} {
		d := answering(t)
		r := d.run("alert-rule", "create", "r", "--about", "Pools", "--percent", percent)
		require.Equal(t, 2, r.code, percent)
		require.Contains(t, r.err, "is not a percentage from 1 to 100")
		require.Empty(t, d.requests())
	}
}

func TestAlertRuleSetSendsAPatch(t *testing.T) {
	t.Parallel()
	d := answering(t, ok(example(t, "AlertRule")))
	d.done("alert-rule", "set", "nearly-full", "--percent", "90")
	all := d.requests()
	require.Equal(t, "PATCH", all[len(all)-1].method)
	var patch map[string]any
	require.NoError(t, json.Unmarshal(all[len(all)-1].body, &patch))
	require.Equal(t, map[string]any{"percent": 90.0}, patch["spec"])
}

func TestAlertListShowsCurrentUsage(t *testing.T) {
	t.Parallel()
	d := answering(t, ok(example(t, "AlertList")))
	r := d.done("alert", "list")
	require.Contains(t, r.out, "RULE             KIND     NAME      FROM           BEGAN AT   NOW      FULL AT                SINCE")
	require.Contains(t, r.out, "full-in-a-week   IPPool   prod-us   full in 168h   62.5%      62.89%   2026-03-07T14:00:00Z   2026-03-02T09:20:00Z")
	require.Contains(t, r.out, "nearly-full      IPPool   prod-eu   80%            81.25%     87.5%    -                      2026-03-02T09:30:00Z")
	require.Equal(t, "/v1/projects/team-a/alerts?limit=500", d.requests()[0].uri)
}
