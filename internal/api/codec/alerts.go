package codec

import (
	"cmp"

	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// NewAlertRule converts a POST body into an alert rule.
func NewAlertRule(_ string, b gen.AlertRuleCreate) (ipam.AlertRule, error) {
	meta, wrongMeta := newMetadata(b.Metadata)
	spec, wrongSpec := alertRuleSpec(b.Spec)
	return ipam.AlertRule{Metadata: meta, Spec: spec}, cmp.Or(wrongMeta, wrongSpec)
}

func alertRuleSpec(s gen.AlertRuleSpec) (spec ipam.AlertRuleSpec, err error) {
	spec = ipam.AlertRuleSpec{
		About: ipam.AlertAbout(s.About), Percent: s.Percent, Name: s.ResourceName, ClassName: s.ClassName, LabelSelector: s.LabelSelector,
	}
	if spec.Runway, err = duration("/spec/runway", s.Runway); err != nil {
		return spec, err
	}
	spec.Labels, err = labelsAt("/spec/labelSelector", s.LabelSelector)
	return spec, err
}

// AlertRuleOf converts an alert rule into its wire form.
func AlertRuleOf(r ipam.AlertRule) gen.AlertRule {
	return gen.AlertRule{
		Metadata: metadataOf(r.Metadata),
		Spec: gen.AlertRuleSpec{
			About: gen.AlertRuleAbout(r.Spec.About), Percent: r.Spec.Percent, Runway: durationOf(r.Spec.Runway),
			ResourceName: r.Spec.Name, ClassName: r.Spec.ClassName, LabelSelector: r.Spec.LabelSelector,
		},
		Status: gen.AlertRuleStatus{Alerts: int(r.Alerts), CheckedAt: OptionalTime(r.CheckedAt)},
	}
}

// PatchAlertRule applies a JSON merge patch to an alert rule.
func PatchAlertRule(patch []byte) func(ipam.AlertRule) (ipam.AlertRule, error) {
	return func(was ipam.AlertRule) (ipam.AlertRule, error) {
		wire, err := applyPatch(AlertRuleOf(was), patch, writableAlertRule, func(r *gen.AlertRule) { r.Status = gen.AlertRuleStatus{} })
		if err != nil {
			return was, err
		}
		next := was
		next.Labels, next.Annotations = wire.Metadata.Labels, wire.Metadata.Annotations
		next.Spec, err = alertRuleSpec(wire.Spec)
		return next, err
	}
}

// AlertOf converts an alert into its wire form.
func AlertOf(a ipam.Alert) gen.Alert {
	out := gen.Alert{
		Name: a.Name(), RuleName: a.Rule, Subject: gen.AlertSubject{Kind: gen.AlertSubjectKindIPPool, Name: a.Subject},
		Percent: a.Spec.Percent, Runway: durationOf(a.Spec.Runway), Since: a.Since.UTC(), PercentAtStart: percent(a.Began), RunsOutAt: OptionalTime(a.RunsOutAt),
	}
	if a.About == ipam.AboutQuotas {
		out.Subject.Kind = gen.AlertSubjectKindQuota
	}
	if a.Now != nil {
		now := percent(a.Now.Hundredths())
		out.PercentNow = &now
	}
	return out
}

func percent(hundredths int64) float64 { return float64(hundredths) / 100 }
