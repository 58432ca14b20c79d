package kinds

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func alertRules(p *session.Program) verbs.Kind {
	type T = client.AlertRule
	return verbs.Kind{
		P: p, In: "alert-rules", Short: "Rules that start alerts for nearly full pools and quotas",
		View: show.ViewOf("alert rule", `
			NAME: metadata.name
			ABOUT: spec.about
			FROM: from
			ONLY: only
			ALERTS: status.alerts
			CHECKED: status.checkedAt, or never`+labelled, show.Cells[T]{
			"from": func(t T) string { return alertFrom(t.Spec.Percent, t.Spec.Runway) },
			"only": alertRuleFilter,
		}),
		Fields: append(verbs.Labels[:2:2], []verbs.Field{
			{Flag: "about", Words: "Pools Quotas", Create: "`OBJECTS` to observe: Pools or Quotas"},
			{Flag: "percent", Value: verbs.ReadBy(readPercent), Usage: "start an alert at this usage, in `PERCENT`"},
			{Flag: "runway", Value: verbs.Policy, Usage: "start an alert when a pool will be full within this `TIME`, like 168h, instead of a percentage"},
			{Flag: "only", Path: "spec.resourceName", Usage: "only the pool or the quota of this `NAME`"},
			{Flag: "class", Path: "spec.className", Usage: "only pools that back a `CLASS` of this name"},
			{Flag: "selector", Path: "spec.labelSelector", Usage: "only pools with these labels, like env=prod"},
		}...),
		ListHelp: "Lists the alert rules of the project, with the number of current alerts of each.",
		Get:      true,
		Create: &verbs.Writer{
			Use:   "create NAME --about Pools|Quotas --percent PERCENT|--runway TIME",
			Short: "Create a rule that starts alerts for nearly full pools or quotas",
			Long: `Creates a rule for the pools or the quotas of the project. With --percent an alert starts when the usage reaches the percentage, and
ends when it is two points lower. With --runway an alert starts when a pool will be full within the time at its recent growth, and ends
when the pool will last a tenth longer. 'ipamctl alert list', 'ipamctl changes' and webhooks for the kind Alert report alerts.`,
			Example: `  ipamctl alert-rule create nearly-full --about Pools --percent 80 --selector env=prod
  ipamctl alert-rule create full-in-a-week --about Pools --runway 168h`,
			Required: []string{"about"},
			Flags: func(cmd *cobra.Command) {
				cmd.MarkFlagsOneRequired("percent", "runway")
				cmd.MarkFlagsMutuallyExclusive("percent", "runway")
			},
		},
		Set: &verbs.Writer{
			Use:   "set NAME [--percent PERCENT|--runway TIME] ...",
			Short: "Change the given fields of an alert rule",
			Long:  "Changes the given fields only. The server applies the rule at once: alerts end and start.",
			Example: `  ipamctl alert-rule set nearly-full --percent 90
  ipamctl alert-rule set nearly-full --percent none --runway 7d`,
		},
		Delete: &verbs.Removal{Many: verbs.ByAll, Long: "Deletes alert rules. Their alerts end."},
	}
}

func readPercent(text string) (any, error) {
	if text == verbs.None {
		return nil, nil //nolint:nilnil // null, because the rule has a runway instead
	}
	n, err := strconv.Atoi(strings.TrimSuffix(text, "%"))
	if err != nil || n < 1 || n > 100 {
		return nil, exit.Usagef("%q is not a percentage from 1 to 100", text)
	}
	return n, nil
}

// alertRuleFilter describes the pools or the quotas that a rule covers.
func alertRuleFilter(r client.AlertRule) string {
	class := ""
	if r.Spec.ClassName != "" {
		class = "class " + r.Spec.ClassName
	}
	return show.FirstOf(show.Words(r.Spec.ResourceName, class, r.Spec.LabelSelector), "all")
}
