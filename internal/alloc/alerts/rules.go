package alerts

import (
	"context"
	"reflect"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/kind"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// minRunway is the shortest Runway in a rule, because the server records the usage of pools once an hour.
const minRunway = time.Hour

// maxRules limits the alert rules in a project, because servers check each rule periodically.
const maxRules = 20

func (s *Alerts) rules() kind.Kind[ipam.AlertRule] {
	return kind.Kind[ipam.AlertRule]{
		Core: s.Core, Name: trail.KindAlertRule, Op: "alert_rule", Reads: tenancy.AlertRulesRead, Writes: tenancy.AlertRulesWrite,
		Head: func(r *ipam.AlertRule) *ipam.Metadata { return &r.Metadata },
		Find: func(read storage.Reader) kind.Finder[ipam.AlertRule] { return read.AlertRuleGet },
		Write: func(ch *storage.Changes, was, now *ipam.AlertRule) {
			switch {
			case was == nil:
				ch.AlertRuleInsert = now
			case now == nil:
				ch.AlertRuleDelete = was
			default:
				ch.AlertRuleUpdate = &storage.AlertRuleUpdate{Was: was.Epoch, Now: *now}
			}
		},
		Record:   recordedRule,
		Check:    func(_ storage.ProjectKey, r ipam.AlertRule) error { return check(r.Spec) },
		SameSpec: func(a, b ipam.AlertRule) bool { return reflect.DeepEqual(a.Spec, b.Spec) },
	}
}

func recordedRule(r ipam.AlertRule) *trail.Record {
	return trail.Recorded(r.Metadata, struct {
		ipam.AlertRuleSpec
		Runway string `json:"runway,omitempty"` // in the API's format
	}{r.Spec, usecase.DurationText(r.Spec.Runway)})
}

func check(spec ipam.AlertRuleSpec) error {
	switch {
	case spec.Percent == 0 && spec.Runway == nil:
		return ipam.Invalid("/spec", "must have percent (1 to 100) or runway (such as 168h).")
	case spec.Percent != 0 && spec.Runway != nil:
		return ipam.Invalid("/spec/runway", "cannot be combined with percent: set one of them, and the other to null.")
	case spec.Runway == nil && (spec.Percent < 1 || spec.Percent > 100):
		return ipam.Invalid("/spec/percent", "must be 1 to 100.")
	case spec.Percent == 0 && (*spec.Runway < minRunway || *spec.Runway > ipam.MaxDuration):
		return ipam.Invalid("/spec/runway", "must be 1h to 8760h: the server records the usage of pools once an hour.")
	case spec.About == ipam.AboutQuotas && spec.Runway != nil:
		return ipam.Invalid("/spec/runway", "is for rules about pools: the server does not record the usage of quotas.")
	case spec.Name != "" && !ipam.ValidName(spec.Name):
		return ipam.Invalid("/spec/resourceName", "must be a DNS label: 1 to 63 of a-z, 0-9 and -, beginning and ending with a letter or digit.")
	case spec.About == ipam.AboutQuotas && spec.ClassName != "":
		return ipam.Invalid("/spec/className", "is for rules about pools.")
	case spec.About == ipam.AboutQuotas && spec.LabelSelector != "":
		return ipam.Invalid("/spec/labelSelector", "is for rules about pools: quotas have no labels.")
	}
	return nil
}

// ListAlertRules lists a project's alert rules by name.
func (s *Alerts) ListAlertRules(ctx context.Context, project string, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.AlertRule], error) {
	return s.rules().List(ctx, project, "alert-rules", storage.Reader.AlertRuleList, limit, cursor, r)
}

// GetAlertRule reads one alert rule.
func (s *Alerts) GetAlertRule(ctx context.Context, project, name string) (ipam.AlertRule, error) {
	return s.rules().Get(ctx, project, name)
}

// CreateAlertRule makes an alert rule. The rule is due at once.
func (s *Alerts) CreateAlertRule(ctx context.Context, project string, rule ipam.AlertRule, r usecase.Request) (usecase.Result[ipam.AlertRule], error) {
	none := usecase.Result[ipam.AlertRule]{}
	who, in, err := s.Enter(ctx, tenancy.AlertRulesWrite, project)
	if err != nil {
		return none, err
	}
	if err := usecase.CheckNew(&rule.Metadata, check(rule.Spec)); err != nil {
		return none, err
	}
	rule.Metadata = s.NewMetadata(rule.Metadata, project, s.Region, who)
	rule.ProjectID, rule.Epoch, rule.DueAt = in.ID, ipam.NewID(), rule.CreatedAt
	locks := storage.Locks{Exclusive: []ipam.ID{ipam.DerivedID(in.ID, "alert-rules")}, Shared: []ipam.ID{in.ID}}
	return s.rules().Create(ctx, in, rule, r, locks, func(ctx context.Context, tx storage.Tx, _, now *ipam.AlertRule) (storage.Changes, error) {
		if err := usecase.CheckProjectExists(ctx, tx, in); err != nil {
			return storage.Changes{}, err
		}
		return storage.Changes{}, checkNewRule(ctx, tx, in, now.Name)
	})
}

// checkNewRule refuses a new rule if its name is taken in any region, or if the project has maxRules rules.
func checkNewRule(ctx context.Context, tx storage.Tx, in storage.ProjectKey, name string) error {
	have, err := tx.AlertRuleList(ctx, in, "", maxRules)
	if err != nil {
		return err
	}
	for _, other := range have {
		if other.Name == name {
			return ipam.Errorf(ipam.CodeAlreadyExists, "An alert rule of this name exists already in the project.").At("/metadata/name", "is taken; choose another name.")
		}
	}
	if len(have) < maxRules {
		return nil
	}
	return usecase.ProjectFull(in.Name, "alert rule", maxRules, "Delete one first.")
}

// PatchAlertRule applies the function mutate to labels, annotations and spec. mutate must be pure. If mutate changes nothing, PatchAlertRule writes
// nothing. If the spec changes, the rule is due at once, and the next check begins and ends its alerts.
func (s *Alerts) PatchAlertRule(ctx context.Context, project, name string, r usecase.Request, mutate func(ipam.AlertRule) (ipam.AlertRule, error)) (ipam.AlertRule, error) {
	_, in, err := s.Enter(ctx, tenancy.AlertRulesWrite, project)
	if err != nil {
		return ipam.AlertRule{}, err
	}
	epoch, at := ipam.NewID(), s.Now()
	return s.rules().Patch(ctx, in, name, r, storage.Locks{}, mutate, func(_ context.Context, _ storage.Tx, was, now *ipam.AlertRule) (storage.Changes, error) {
		now.Epoch = epoch
		if !reflect.DeepEqual(was.Spec, now.Spec) {
			now.DueAt, now.After = at, ""
		}
		return storage.Changes{}, nil
	})
}

// DeleteAlertRule deletes an alert rule, and ends its alerts.
func (s *Alerts) DeleteAlertRule(ctx context.Context, project, name string, r usecase.Request) error {
	_, in, err := s.Enter(ctx, tenancy.AlertRulesWrite, project)
	if err != nil {
		return err
	}
	at := s.Now()
	return s.rules().Delete(ctx, in, name, r, nil, func(ctx context.Context, tx storage.Tx, was, _ *ipam.AlertRule) (storage.Changes, error) {
		var ch storage.Changes
		have, err := tx.AlertsOf(ctx, *was)
		for _, a := range have {
			a.Spec = was.Spec
			if err == nil {
				err = addEvent(&ch, trail.Attempt(ctx, at, in.ID, trail.KindAlert, a.Name()), &a, nil)
			}
		}
		return ch, err
	})
}
