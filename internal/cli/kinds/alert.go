package kinds

import (
	"strconv"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func alerts(p *session.Program) verbs.Kind {
	type T = client.Alert
	return verbs.Kind{
		P: p, In: "alerts", Short: "Pools and quotas that are nearly full",
		View: show.ViewOf("alert", `
			RULE: ruleName
			KIND: subject.kind
			NAME: subject.name
			FROM: from
			BEGAN AT: began
			NOW: now
			FULL AT: runsOutAt
			SINCE: since`, show.Cells[T]{
			"from":  func(t T) string { return alertFrom(t.Percent, t.Runway) },
			"began": func(t T) string { return percentText(&t.PercentAtStart) },
			"now":   func(t T) string { return percentText(t.PercentNow) },
		}),
		Feed:     client.ChangeKindAlert,
		ListHelp: "Lists the current alerts of the project by rule, with the current usage. 'ipamctl event list --kind Alert' lists past alerts.",
	}
}

// alertFrom returns an alert's threshold as text.
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
