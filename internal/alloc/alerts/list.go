package alerts

import (
	"context"
	"math/big"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/quota"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// ListAlerts lists the current alerts in a project by rule and subject. Each alert shows the current usage.
func (s *Alerts) ListAlerts(ctx context.Context, project string, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Alert], error) {
	_, in, err := s.Enter(ctx, tenancy.AlertsRead, project)
	if err != nil {
		return paging.Page[ipam.Alert]{}, err
	}
	read := s.View(r)
	page, err := paging.Scan(ctx, s.Searching, paging.ListOf("alerts", in.ID), cursor, limit, func(after storage.AlertRef, n int) ([]ipam.Alert, error) {
		if after != (storage.AlertRef{}) && (!ipam.ValidName(after.Rule) || !ipam.ValidName(after.Subject)) {
			return nil, paging.ErrBadCursor()
		}
		return read.AlertList(ctx, in, after, n)
	}, usecase.Everything[ipam.Alert], func(a ipam.Alert) storage.AlertRef { return storage.AlertRef{Rule: a.Rule, Subject: a.Subject} })
	if err != nil {
		return page, err
	}
	return page, complete(ctx, read, in, page.Items)
}

// Named returns the alerts in a project with the names in refs.
func Named(ctx context.Context, read storage.Reader, in storage.ProjectKey, refs []storage.AlertRef) ([]ipam.Alert, error) {
	found, err := read.AlertsNamed(ctx, in, refs)
	if err != nil {
		return nil, err
	}
	return found, complete(ctx, read, in, found)
}

// complete sets the alert fields that the database rows lack: the rule's spec and labels, and the current usage.
func complete(ctx context.Context, read storage.Reader, in storage.ProjectKey, alerts []ipam.Alert) error {
	if len(alerts) == 0 {
		return nil
	}
	rules, err := read.AlertRuleList(ctx, in, "", maxRules)
	if err != nil {
		return err
	}
	byName := make(map[string]ipam.AlertRule, len(rules))
	for _, rule := range rules {
		byName[rule.Name] = rule
	}
	names := map[ipam.AlertAbout][]string{}
	for _, a := range alerts {
		names[a.About] = append(names[a.About], a.Subject)
	}
	used := map[ipam.AlertAbout]map[string]subject{}
	if pools := names[ipam.AboutPools]; len(pools) > 0 {
		if used[ipam.AboutPools], err = poolsNamed(ctx, read, in, pools, fillStates, func(*ipam.Pool) bool { return true }); err != nil {
			return err
		}
	}
	if len(names[ipam.AboutQuotas]) > 0 {
		if used[ipam.AboutQuotas], err = quotas(ctx, read, in, ""); err != nil {
			return err
		}
	}
	for i := range alerts {
		a := &alerts[i]
		a.Spec, a.Labels = byName[a.Rule].Spec, byName[a.Rule].Labels
		if one, there := used[a.About][a.Subject]; there && one.id == a.SubjectID {
			a.Now = &one.now.Share
		}
	}
	return nil
}

// subject is a pool or a quota that a rule checks.
type subject struct {
	id  ipam.ID
	now ipam.Standing
}

// quotas returns the usage of a project's quotas. If name is set, it returns only the quota with this name.
func quotas(ctx context.Context, read storage.Reader, in storage.ProjectKey, name string) (map[string]subject, error) {
	list, err := read.QuotaList(ctx, in, "", storage.MaxQuotas)
	found := make(map[string]subject, len(list))
	for _, q := range list {
		if name == "" || name == q.Name {
			found[q.Name] = subject{q.UID, ipam.Standing{Share: quotaShare(q)}}
		}
	}
	return found, err
}

// quotaShare returns the used share of the limit that is closest to full. A limit of 0 counts as fully used as soon as the usage is above 0.
func quotaShare(q ipam.Quota) (fullest ipam.Share) {
	for _, m := range quota.Measures {
		limit := m.Limit(q.Spec.Limits)
		if limit == nil {
			continue
		}
		one := ipam.Share{Used: m.Of(q.Used), Of: limit}
		if limit.Sign() == 0 {
			if one.Used.Sign() <= 0 {
				continue
			}
			one.Of = one.Used
		}
		if fullest.Of == nil || new(big.Int).Mul(one.Used, fullest.Of).Cmp(new(big.Int).Mul(fullest.Used, one.Of)) > 0 {
			fullest = one
		}
	}
	return fullest
}

// poolAssessor computes the usage of some pools. The caller must have read each pool's Stock, which counts its blocks.
type poolAssessor func(ctx context.Context, read storage.Reader, pools []ipam.Pool) (map[ipam.ID]ipam.Standing, error)

// fillStates is a poolAssessor without a forecast.
func fillStates(_ context.Context, _ storage.Reader, pools []ipam.Pool) (map[ipam.ID]ipam.Standing, error) {
	found := make(map[ipam.ID]ipam.Standing, len(pools))
	for _, p := range pools {
		found[p.UID] = ipam.Standing{Share: ipam.PoolShare(p)}
	}
	return found, nil
}

// poolsNamed reads the pools with these names, and returns the usage of the pools that match.
func poolsNamed(ctx context.Context, read storage.Reader, in storage.ProjectKey, names []string, as poolAssessor, match func(*ipam.Pool) bool) (map[string]subject, error) {
	list, err := read.PoolsNamed(ctx, in, names)
	if err != nil {
		return nil, err
	}
	return usageOf(ctx, read, list, as, match)
}

// usageOf returns the usage of the pools in list that match.
func usageOf(ctx context.Context, read storage.Reader, list []ipam.Pool, as poolAssessor, match func(*ipam.Pool) bool) (map[string]subject, error) {
	var matching []ipam.Pool
	for i := range list {
		if match(&list[i]) {
			matching = append(matching, list[i])
		}
	}
	if len(matching) == 0 {
		return nil, nil
	}
	if err := storage.FillStock(ctx, read, matching); err != nil {
		return nil, err
	}
	now, err := as(ctx, read, matching)
	found := make(map[string]subject, len(matching))
	for _, p := range matching {
		found[p.Name] = subject{p.UID, now[p.UID]}
	}
	return found, err
}
