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

func alertCommand(p *session.Program) *cobra.Command {
	k := verbs.Kind[client.Alert]{P: p, View: alertView(), Home: verbs.HomeOf(p, "alerts"), Fed: &verbs.Fed[client.Alert]{Kind: client.ChangeKindAlert}}
	return verbs.Group("alert", "Pools and quotas that are nearly full", []string{"alerts"},
		k.ListVerb("Lists the current alerts of the project by rule, with the current usage. 'ipamctl event list --kind Alert' lists past alerts."),
	)
}

func alertView() show.View[client.Alert] {
	type T = client.Alert
	return show.View[T]{
		Kind: "alert",
		Name: func(t T) string { return t.Name },
		Columns: []show.Column[T]{
			{Title: "RULE", Cell: func(t T) string { return t.RuleName }},
			{Title: "KIND", Cell: func(t T) string { return string(t.Subject.Kind) }},
			{Title: "NAME", Cell: func(t T) string { return t.Subject.Name }},
			{Title: "FROM", Cell: func(t T) string { return alertFrom(t.Percent, t.Runway) }},
			{Title: "BEGAN AT", Cell: func(t T) string { return percentText(&t.PercentAtStart) }},
			{Title: "NOW", Cell: func(t T) string { return percentText(t.PercentNow) }},
			{Title: "FULL AT", Cell: func(t T) string { return show.TimeText(t.RunsOutAt) }},
			{Title: "SINCE", Cell: func(t T) string { return show.TimeText(&t.Since) }},
		},
	}
}

// alertFrom returns the threshold of an alert as text.
func alertFrom(percent int, runway client.Duration) string {
	if runway != "" {
		return "full in " + runway
	}
	return strconv.Itoa(percent) + "%"
}

func percentText(percent *float64) string {
	if percent == nil {
		return ""
	}
	return strconv.FormatFloat(*percent, 'f', -1, 64) + "%"
}

func alertRuleCommand(p *session.Program) *cobra.Command {
	k := verbs.Kind[client.AlertRule]{P: p, View: alertRuleView(), Home: verbs.HomeOf(p, "alert-rules"), Fields: append(verbs.LabelFields(),
		verbs.Field{
			Flag: "about", Path: "spec.about", Value: verbs.OneOf(client.AlertRuleAboutPools, client.AlertRuleAboutQuotas), Create: "`OBJECTS` to observe: Pools or Quotas",
		},
		verbs.Field{Flag: "percent", Path: "spec.percent", Value: verbs.ReadBy(readPercent), Usage: "start an alert at this usage, in `PERCENT`"},
		verbs.Field{Flag: "runway", Path: "spec.runway", Value: verbs.Policy, Usage: "start an alert when a pool will be full within this `TIME`, like 168h, instead of a percentage"},
		verbs.Field{Flag: "only", Path: "spec.resourceName", Value: verbs.Text, Usage: "only the pool or the quota of this `NAME`"},
		verbs.Field{Flag: "class", Path: "spec.className", Value: verbs.Text, Usage: "only pools that back a `CLASS` of this name"},
		verbs.Field{Flag: "selector", Path: "spec.labelSelector", Value: verbs.Text, Usage: "only pools with these labels, like env=prod"},
	)}
	create := k.CreateVerb(&cobra.Command{
		Use:   "create NAME --about Pools|Quotas --percent PERCENT|--runway TIME",
		Short: "Create a rule that starts alerts for nearly full pools or quotas",
		Long: `Creates a rule for the pools or the quotas of the project. With --percent an alert starts when the usage reaches the percentage, and
ends when it is two points lower. With --runway an alert starts when a pool will be full within the time at its recent growth, and ends
when the pool will last a tenth longer. 'ipamctl alert list', 'ipamctl changes' and webhooks for the kind Alert report alerts.`,
		Example: `  ipamctl alert-rule create nearly-full --about Pools --percent 80 --selector env=prod
  ipamctl alert-rule create full-in-a-week --about Pools --runway 168h`,
	}, verbs.Creation{})
	verbs.Required(create, "about")
	create.MarkFlagsOneRequired("percent", "runway")
	create.MarkFlagsMutuallyExclusive("percent", "runway")
	return verbs.Group("alert-rule", "Rules that start alerts for nearly full pools and quotas", []string{"alert-rules"},
		create,
		k.ListVerb("Lists the alert rules of the project, with the number of current alerts of each."),
		k.GetVerb(),
		k.SetVerb(&cobra.Command{
			Use:   "set NAME [--percent PERCENT|--runway TIME] ...",
			Short: "Change the given fields of an alert rule",
			Long:  "Changes the given fields only. The server applies the rule at once: alerts end and start.",
			Example: `  ipamctl alert-rule set nearly-full --percent 90
  ipamctl alert-rule set nearly-full --percent none --runway 7d`,
		}, verbs.Creation{}),
		k.DeleteVerb(verbs.Removal{Many: verbs.ByAll, Long: "Deletes alert rules. Their alerts end."}),
	)
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

func alertRuleView() show.View[client.AlertRule] {
	type T = client.AlertRule
	return show.View[T]{
		Kind: "alert rule",
		Name: func(t T) string { return t.Metadata.Name },
		Columns: append([]show.Column[T]{
			{Title: "NAME", Cell: func(t T) string { return t.Metadata.Name }},
			{Title: "ABOUT", Cell: func(t T) string { return string(t.Spec.About) }},
			{Title: "FROM", Cell: func(t T) string { return alertFrom(t.Spec.Percent, t.Spec.Runway) }},
			{Title: "ONLY", Cell: alertRuleFilter},
			{Title: "ALERTS", Cell: func(t T) string { return strconv.Itoa(t.Status.Alerts) }},
			{Title: "CHECKED", Cell: func(t T) string { return orNever(t.Status.CheckedAt) }},
		}, metaColumns(func(t T) client.Metadata { return t.Metadata })...),
	}
}

// alertRuleFilter describes the pools or the quotas that a rule covers.
func alertRuleFilter(r client.AlertRule) string {
	var parts []string
	if r.Spec.ResourceName != "" {
		parts = append(parts, r.Spec.ResourceName)
	}
	if r.Spec.ClassName != "" {
		parts = append(parts, "class "+r.Spec.ClassName)
	}
	if r.Spec.LabelSelector != "" {
		parts = append(parts, r.Spec.LabelSelector)
	}
	return show.FirstOf(strings.Join(parts, " "), "all")
}
