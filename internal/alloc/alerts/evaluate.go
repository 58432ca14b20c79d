package alerts

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/alloc/utilization"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Keeper is the subject in the audit trail for the job that begins and ends alerts.
const Keeper = "carve:alerts"

const (
	checkEvery     = 30 * time.Second
	planEvery      = 10 * time.Minute // how often a server checks a rule with a forecast, because a forecast reads all hourly records
	poolsPerStep   = 200              // pools that one step checks; a rule about more pools continues in the next step
	maxAlerts      = 500              // maximum number of alerts for one rule; one transaction ends them all if a user deletes the rule
	dueAtOnce      = 20
	maxRounds      = 5               // rounds in one run, each with dueAtOnce rules; then other jobs can run
	maxRetryPause  = 5 * time.Minute // longest pause after a failed step
	failureExpires = 24 * time.Hour  // after this time, the server forgets a failure: another server checks the rule, or it was deleted
)

// EvaluateAlerts runs the next step for each due alert rule in this region. It returns the number of alerts that have begun or ended. A step checks
// some of a rule's pools, or all its quotas. Several servers may run EvaluateAlerts at the same time, and it may stop at any time. Each step is one
// transaction, and only one server can commit it.
func (s *Alerts) EvaluateAlerts(ctx context.Context) (changed int64, err error) {
	var errs []error
	var d due
	for range maxRounds {
		if d, err = s.due(ctx); err == nil {
			s.setDueAt(d.longestDue)
			var n int64
			n, err = s.evaluateAll(ctx, d.next)
			changed += n
		}
		if errs = append(errs, err); err != nil || len(d.next) < dueAtOnce {
			break
		}
	}
	for _, rule := range d.again {
		n, err := s.evaluateAll(ctx, []ipam.AlertRule{rule})
		changed, errs = changed+n, append(errs, err)
		if err != nil {
			break
		}
	}
	if errors.Join(errs...) == nil && len(d.next) < dueAtOnce {
		s.setDueAt(d.postponed)
	}
	return changed, errors.Join(append(errs, s.countAlerts(ctx, changed > 0))...)
}

// failure describes a rule's failed steps since its last success. lastAt is the time of the last failure, by the process's own clock.
type failure struct {
	lastAt time.Time
	times  int
}

// retryDue reports whether it is time for a retry. The first retry comes after half a minute. Each further failure doubles the wait, up to
// maxRetryPause.
func (f failure) retryDue(now time.Time) bool {
	return now.Sub(f.lastAt) >= min(checkEvery<<min(f.times-1, 10), maxRetryPause)
}

type due struct {
	next       []ipam.AlertRule // rules to check
	again      []ipam.AlertRule // rules to check after the others, because their last step failed; they stay due, and would delay all other rules
	longestDue time.Time        // due time of the rule that waits longest
	postponed  time.Time        // the earliest due time among the failed rules whose retry is not due yet
}

func (s *Alerts) due(ctx context.Context) (d due, err error) {
	now := s.Ticks()
	s.mu.Lock()
	maps.DeleteFunc(s.failed, func(_ ipam.ID, f failure) bool { return now.Sub(f.lastAt) >= failureExpires })
	failed := maps.Clone(s.failed)
	s.mu.Unlock()
	all, err := s.Store.AlertRulesDue(ctx, s.Now(), dueAtOnce+len(failed))
	for i, rule := range all {
		if i == 0 {
			d.longestDue = rule.DueAt
		}
		switch f, has := failed[rule.UID]; {
		case !has:
			d.next = append(d.next, rule)
		case f.retryDue(now):
			d.again = append(d.again, rule)
		case d.postponed.IsZero():
			d.postponed = rule.DueAt
		}
	}
	d.next = d.next[:min(len(d.next), dueAtOnce)]
	slices.SortStableFunc(d.again, func(a, b ipam.AlertRule) int { return failed[a.UID].lastAt.Compare(failed[b.UID].lastAt) })
	return d, err
}

// setDueAt records the due time of the rule that waits longest.
func (s *Alerts) setDueAt(since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dueAt = since
}

// countAlerts counts the alerts in the region. It counts after a change by this server, and periodically because other servers change alerts too.
func (s *Alerts) countAlerts(ctx context.Context, changed bool) error {
	s.mu.Lock()
	due := changed || s.count == nil || s.Ticks().Sub(s.counted) >= checkEvery
	s.mu.Unlock()
	if !due {
		return nil
	}
	at := s.Ticks()
	count := map[ipam.AlertAbout]int64{ipam.AboutPools: 0, ipam.AboutQuotas: 0}
	found, err := s.Store.AlertCount(ctx)
	maps.Copy(count, found)
	if err == nil {
		s.mu.Lock()
		s.count, s.counted = count, at
		s.mu.Unlock()
	}
	return err
}

// evaluateAll runs one step for each rule. It takes the rules in random order, so that concurrent servers seldom work on the same rule.
func (s *Alerts) evaluateAll(ctx context.Context, due []ipam.AlertRule) (changed int64, err error) {
	if len(due) == 0 {
		return 0, nil
	}
	ids := make([]ipam.ID, len(due))
	for i, rule := range due {
		ids[i] = rule.ProjectID
	}
	keys, err := s.Store.ProjectKeys(ctx, ids)
	errs := []error{err}
	projects := make(map[ipam.ID]storage.ProjectKey, len(keys))
	for _, key := range keys {
		projects[key.ID] = key
	}
	rand.Shuffle(len(due), func(i, j int) { due[i], due[j] = due[j], due[i] }) //nolint:gosec // the order is not a secret
	for _, rule := range due {
		in, there := projects[rule.ProjectID]
		if !there {
			continue // the project is being deleted
		}
		n, err := s.evaluate(ctx, in, rule)
		changed, errs = changed+n, append(errs, err)
		s.mu.Lock()
		if err == nil {
			delete(s.failed, rule.UID)
		} else {
			s.failed[rule.UID] = failure{s.Ticks(), s.failed[rule.UID].times + 1}
		}
		s.mu.Unlock()
	}
	return changed, errors.Join(errs...)
}

// evaluate runs one step for a rule. It checks some of the rule's subjects and writes the result. It writes nothing if another server has already run
// this step, or if the rule has changed.
func (s *Alerts) evaluate(ctx context.Context, in storage.ProjectKey, rule ipam.AlertRule) (changed int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, usecase.GroupDeadline)
	defer cancel()
	l, err := s.assess(ctx, in, rule)
	if err != nil {
		return 0, err
	}
	at, epoch := s.Now(), ipam.NewID()
	return usecase.InTx(ctx, s.Core, "alert_look", storage.Locks{}, false, func(ctx context.Context, tx storage.Tx) (int64, error) {
		was, found, err := storage.IgnoreNotFound(tx.AlertRuleGet(ctx, in, rule.Name))
		if err != nil || !found || was.Epoch != rule.Epoch {
			return 0, err
		}
		have, err := tx.AlertsOf(ctx, was)
		if err != nil {
			return 0, err
		}
		ch, err := l.changes(ctx, in, was, have, at)
		if err != nil {
			return 0, err
		}
		now := was
		now.Epoch, now.After, now.DueAt = epoch, l.next, at
		if l.next == "" {
			now.CheckedAt, now.DueAt = at, at.Add(checkInterval(was.Spec))
		}
		ch.AlertRuleUpdate = &storage.AlertRuleUpdate{Was: was.Epoch, Now: now}
		return int64(len(ch.AlertBegin) + len(ch.AlertEnd)), tx.Write(ctx, ch)
	})
}

// checkInterval returns how often a server checks a rule.
func checkInterval(spec ipam.AlertRuleSpec) time.Duration {
	if spec.Runway != nil {
		return planEvery
	}
	return checkEvery
}

// assessment contains the results from one step for a rule.
type assessment struct {
	found   map[string]subject  // the checked pools or quotas that match the rule
	checked map[string]struct{} // the names that this step checked; nil: all names
	next    string              // the name after which the next step continues; "": this step is the last one
}

// assess reads a rule's next subjects. The first step also reads all subjects with alerts, because a subject may have been deleted since.
func (s *Alerts) assess(ctx context.Context, in storage.ProjectKey, rule ipam.AlertRule) (l assessment, err error) {
	if rule.Spec.About == ipam.AboutQuotas {
		l.found, err = quotas(ctx, s.Store, in, rule.Spec.Name)
		return l, err
	}
	as := fillStates
	if rule.Spec.Runway != nil {
		now := s.Now()
		as = func(ctx context.Context, read storage.Reader, pools []ipam.Pool) (map[ipam.ID]ipam.Standing, error) {
			return utilization.Standings(ctx, read, pools, now)
		}
	}
	if rule.Spec.Name != "" {
		l.found, err = poolsNamed(ctx, s.Store, in, []string{rule.Spec.Name}, as, rule.Spec.Matches)
		return l, err
	}
	page, err := s.Store.PoolList(ctx, in, rule.After, poolsPerStep)
	if err != nil {
		return l, err
	}
	if len(page) == poolsPerStep {
		l.next = page[len(page)-1].Name
	}
	if rule.After == "" && l.next == "" {
		l.found, err = usageOf(ctx, s.Store, page, as, rule.Spec.Matches)
		return l, err
	}
	l.checked = map[string]struct{}{}
	for _, p := range page {
		l.checked[p.Name] = struct{}{}
	}
	if rule.After == "" {
		more, err := s.alertedPools(ctx, in, rule, l.checked)
		if err != nil {
			return l, err
		}
		page = append(page, more...)
	}
	l.found, err = usageOf(ctx, s.Store, page, as, rule.Spec.Matches)
	return l, err
}

// alertedPools reads the pools that have an alert from the rule. It skips the pools whose names are in checked, and adds the names of the other pools
// to checked.
func (s *Alerts) alertedPools(ctx context.Context, in storage.ProjectKey, rule ipam.AlertRule, checked map[string]struct{}) ([]ipam.Pool, error) {
	have, err := s.Store.AlertsOf(ctx, rule)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, a := range have {
		if _, was := checked[a.Subject]; !was {
			checked[a.Subject] = struct{}{}
			names = append(names, a.Subject)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	return s.Store.PoolsNamed(ctx, in, names)
}

// changes returns the alerts that begin and end through this step.
func (l assessment) changes(ctx context.Context, in storage.ProjectKey, rule ipam.AlertRule, have []ipam.Alert, at usecase.Timestamp) (ch storage.Changes, err error) {
	event := func(a ipam.Alert) ipam.Event {
		e := trail.Attempt(ctx, at, in.ID, trail.KindAlert, a.Name())
		e.Subject = Keeper
		return e
	}
	kept := map[string]bool{}
	for _, a := range have {
		one, found := l.found[a.Subject]
		_, asked := l.checked[a.Subject]
		if kept[a.Subject] = !found && l.checked != nil && !asked || found && one.id == a.SubjectID && !rule.Spec.Ends(one.now); kept[a.Subject] {
			continue
		}
		delete(kept, a.Subject)
		a.Spec = rule.Spec
		if err := addEvent(&ch, event(a), &a, nil); err != nil {
			return ch, err
		}
		ch.AlertEnd = append(ch.AlertEnd, a)
	}
	for _, name := range slices.Sorted(maps.Keys(l.found)) {
		one := l.found[name]
		if kept[name] || !rule.Spec.Begins(one.now) || len(kept)+len(ch.AlertBegin) >= maxAlerts {
			continue
		}
		a := ipam.Alert{
			Region: rule.Region, ProjectID: rule.ProjectID, RuleID: rule.UID, Rule: rule.Name, About: rule.Spec.About, SubjectID: one.id, Subject: name,
			Since: at, Began: one.now.Hundredths(), Spec: rule.Spec,
		}
		if rule.Spec.Runway != nil {
			a.RunsOutAt = at.Add(*one.now.Forecast)
		}
		if err := addEvent(&ch, event(a), nil, &a); err != nil {
			return ch, err
		}
		ch.AlertBegin = append(ch.AlertBegin, a)
	}
	return ch, nil
}

// addEvent adds the event for an alert that begins or ends.
func addEvent(ch *storage.Changes, event ipam.Event, was, is *ipam.Alert) error {
	e, err := trail.Effected(event, recorded(was), recorded(is))
	ch.Events = append(ch.Events, e)
	return err
}

// recorded returns the event record for an alert.
func recorded(a *ipam.Alert) *trail.Record {
	if a == nil {
		return nil
	}
	return &trail.Record{Spec: struct {
		About     ipam.AlertAbout `json:"about"`
		Percent   int             `json:"percent,omitzero"`
		Runway    string          `json:"runway,omitempty"`
		Began     float64         `json:"percentAtStart"`
		RunsOutAt time.Time       `json:"runsOutAt,omitzero"`
	}{a.About, a.Spec.Percent, usecase.DurationText(a.Spec.Runway), float64(a.Began) / 100, a.RunsOutAt}}
}
