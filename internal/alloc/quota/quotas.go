package quota

import (
	"context"
	"errors"
	"math/big"

	"github.com/carve-ipam/carve/internal/alloc/kind"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// quotas returns the kind.Kind that describes quotas. Its May function checks the caller's permissions.
func (s *Quotas) quotas(who tenancy.Principal) kind.Kind[ipam.Quota] {
	return kind.Kind[ipam.Quota]{
		Core: s.Core, Name: trail.KindQuota, Op: "quota", Reads: tenancy.QuotasRead, Writes: tenancy.QuotasWrite,
		Head: func(q *ipam.Quota) *ipam.Metadata { return &q.Metadata },
		Find: func(read storage.Reader) kind.Finder[ipam.Quota] { return read.QuotaGet },
		Write: func(ch *storage.Changes, was, now *ipam.Quota) {
			switch {
			case was == nil:
				ch.QuotaInsert = now
			case now == nil:
				ch.QuotaDelete = was
			default:
				ch.QuotaUpdate = &storage.QuotaUpdate{WasRevision: was.Revision, Now: *now}
			}
		},
		CheckAccess: func(q ipam.Quota) error { return checkQuotaAccess(who, q) },
		Record:      recordedQuota,
		Check:       func(_ storage.ProjectKey, q ipam.Quota) error { return checkQuota(q.Spec) },
		SameSpec: func(a, b ipam.Quota) bool {
			return a.Spec.Scope == b.Spec.Scope && sameLimits(a.Spec.Limits, b.Spec.Limits) && a.Spec.Description == b.Spec.Description
		},
		SameElse: func(a, b ipam.Quota) bool { return a.Owner == b.Owner },
	}
}

// ListQuotas lists a project's quotas by name, with their usage.
func (s *Quotas) ListQuotas(ctx context.Context, project string, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Quota], error) {
	return s.quotas(tenancy.Principal{}).List(ctx, project, "quotas", storage.Reader.QuotaList, limit, cursor, r)
}

// GetQuota reads one quota with its usage.
func (s *Quotas) GetQuota(ctx context.Context, project, name string) (ipam.Quota, error) {
	return s.quotas(tenancy.Principal{}).Get(ctx, project, name)
}

// PutQuota creates a quota and counts the project's existing usage. If the quota exists, PutQuota replaces its limits and its description, and sets
// Existed in the result. The limits may be below the usage, and PutQuota then releases nothing. It writes nothing if spec and owner stay the same. If
// a platform admin sets a quota, it belongs to the platform, and then only a platform admin may change it.
func (s *Quotas) PutQuota(ctx context.Context, project string, q ipam.Quota, r usecase.Request) (usecase.Result[ipam.Quota], error) {
	who, key, err := s.Enter(ctx, tenancy.QuotasWrite, project)
	if err != nil {
		return usecase.Result[ipam.Quota]{}, err
	}
	if err := usecase.CheckNew(&q.Metadata, checkQuota(q.Spec)); err != nil {
		return usecase.Result[ipam.Quota]{}, err
	}
	made := ipam.Quota{Metadata: s.NewMetadata(ipam.Metadata{Name: q.Name}, project, "", who), ProjectID: key.ID, Owner: quotaOwner(who), Spec: q.Spec}
	locks := storage.Locks{Exclusive: []ipam.ID{key.ID}} // so that the usage does not change during the count
	// The owner can change from the project to the platform, but not back. A project admin may not change the platform's quotas.
	over := func(was ipam.Quota) ipam.Quota {
		was.Spec, was.Owner = made.Spec, made.Owner
		return was
	}
	result, err := s.quotas(who).Put(ctx, key, made, r, locks, over, func(ctx context.Context, tx storage.Tx, was, now *ipam.Quota) (storage.Changes, error) {
		if was == nil {
			return count(ctx, tx, s.Region, key, now)
		}
		return redistribute(ctx, tx, was, now)
	})
	return result, s.recordDenied(ctx, project, err)
}

// quotaOwner returns the owner for a quota that the caller sets.
func quotaOwner(who tenancy.Principal) ipam.QuotaOwner {
	if who.PlatformAdmin() {
		return ipam.QuotaOfPlatform
	}
	return ipam.QuotaOfProject
}

// checkQuotaAccess returns an error if a project admin wants to change a platform quota. Without this check, the project could lift the platform's
// limits.
func checkQuotaAccess(who tenancy.Principal, q ipam.Quota) error {
	if q.Owner == ipam.QuotaOfProject || who.PlatformAdmin() {
		return nil
	}
	return ipam.Errorf(ipam.CodePermissionDenied,
		"Quota %s/%s was set by the platform: only an admin of project %q may change or delete it. You are %s, with the role %s in project %q; you may add quotas of your own.",
		q.Project, q.Name, ipam.PlatformProject, who.Subject, who.RoleIn(q.Project), q.Project)
}

// recordDenied records a refused change to a platform quota in the audit trail, and returns the error.
func (s *Quotas) recordDenied(ctx context.Context, project string, err error) error {
	refused, ok := errors.AsType[*ipam.Error](err)
	if !ok || refused.Code != ipam.CodePermissionDenied || !tenancy.Recorded(ctx) {
		return err
	}
	if failed := trail.RecordRefusal(ctx, s.Core, tenancy.QuotasWrite, project, refused.Code); failed != nil {
		return refused.WithCause(failed)
	}
	return err
}

// count sets a new quota's usage to the project's usage at this moment. The caller holds the project's exclusive lock. Without the lock, a concurrent
// transaction could create a claim that the new quota does not count.
func count(ctx context.Context, tx storage.Tx, ownRegion string, key storage.ProjectKey, made *ipam.Quota) (storage.Changes, error) {
	none := storage.Changes{}
	if err := usecase.CheckProjectExists(ctx, tx, key); err != nil {
		return none, err
	}
	if err := checkScopeExists(ctx, tx, key, made.Spec.Scope); err != nil {
		return none, err
	}
	others, err := tx.QuotaList(ctx, key, "", storage.MaxQuotas)
	if err != nil {
		return none, err
	}
	if len(others) == storage.MaxQuotas {
		return none, usecase.ProjectFull(key.Name, "quota", storage.MaxQuotas, "Change or delete one of them.")
	}
	used, err := countUsage(ctx, tx, key, made.Spec.Scope)
	if err != nil {
		return none, err
	}
	regions, err := tx.Regions(ctx)
	if err != nil {
		return none, err
	}
	places := []string{ownRegion}
	for _, r := range regions {
		if r.Name != ownRegion {
			places = append(places, r.Name)
		}
	}
	made.Used = ipam.Usage{}.Add(used)
	made.Overdrawn = overdrawn(made.Spec.Limits, used)
	return storage.Changes{QuotaChanges: storage.QuotaChanges{ShardInsert: newShards(made.UID, made.Spec.Limits, used, places)}}, nil
}

// countUsage counts a project's claims and pools. The cost depends on their number, so countUsage charges it after the count. If the caller's or the
// project's budget is already used up, countUsage does not start.
func countUsage(ctx context.Context, tx storage.Tx, key storage.ProjectKey, scope ipam.QuotaScope) (ipam.Usage, error) {
	budget := tenancy.BudgetOf(ctx)
	if err := budget.Charge(tenancy.Work{Rows: 1}); err != nil {
		return ipam.Usage{}, err
	}
	used, err := tx.UsageCount(ctx, key, scope)
	budget.Add(tenancy.Work{Counted: int(used.Claims + used.Pools)})
	return used, err
}

// checkScopeExists refuses a scope that names a missing pool or class in the quota's own project. Such a quota would limit nothing. It does not look
// up names in other projects, because the result would reveal whether those pools and classes exist.
func checkScopeExists(ctx context.Context, read storage.Reader, key storage.ProjectKey, scope ipam.QuotaScope) error {
	if scope.Pool.Project == key.Name {
		if _, err := read.PoolGet(ctx, key, scope.Pool.Name); err != nil {
			return storage.NotFoundAt(err, "/spec/scope/poolRef/name")
		}
	}
	if scope.Class.Project == key.Name {
		if _, err := read.ClassGet(ctx, key, scope.Class.Name); err != nil {
			return storage.NotFoundAt(err, "/spec/scope/classRef/name")
		}
	}
	return nil
}

// redistribute divides the unused part of a quota's new limits among the shards. The usage is the sum over the shards, so redistribute does not count
// the claims and pools again.
func redistribute(ctx context.Context, tx storage.Tx, was, now *ipam.Quota) (storage.Changes, error) {
	none := storage.Changes{}
	if was.Spec.Scope != now.Spec.Scope {
		return none, ipam.Errorf(ipam.CodeImmutableField, "The scope of a quota never changes. Delete the quota and create another one.").
			At("/spec/scope", "differs from the scope of the quota.")
	}
	if sameLimits(was.Spec.Limits, now.Spec.Limits) {
		return none, nil
	}
	all, err := tx.QuotaShards(ctx, []ipam.ID{was.UID})
	if err != nil {
		return none, err
	}
	tenancy.BudgetOf(ctx).Add(tenancy.Work{Rows: len(all)})
	now.Used = usedOf(all)
	now.Overdrawn = overdrawn(now.Spec.Limits, now.Used)
	return storage.Changes{QuotaChanges: storage.QuotaChanges{ShardUpdate: shardUpdates(all, respread(now.Spec.Limits, all))}}, nil
}

// DeleteQuota deletes a quota with its limits.
func (s *Quotas) DeleteQuota(ctx context.Context, project, name string, r usecase.Request) error {
	who, key, err := s.Enter(ctx, tenancy.QuotasWrite, project)
	if err != nil {
		return err
	}
	locks := func(ipam.Quota) (storage.Locks, error) { return storage.Locks{Exclusive: []ipam.ID{key.ID}}, nil }
	return s.recordDenied(ctx, project, s.quotas(who).Delete(ctx, key, name, r, locks, nil))
}

func checkQuota(spec ipam.QuotaSpec) error {
	limits, scope := spec.Limits, spec.Scope
	switch {
	case limits.Addresses == nil && limits.Claims == nil && limits.Pools == nil:
		return ipam.Invalid("/spec/limits", "must have at least one of addresses, claims and pools.")
	case limits.Addresses != nil && (limits.Addresses.Sign() < 0 || limits.Addresses.Cmp(allAddresses) > 0):
		return ipam.Invalid("/spec/limits/addresses", "must be 0 to %s (all of IPv6).", allAddresses)
	case limits.Claims != nil && *limits.Claims < 0:
		return ipam.Invalid("/spec/limits/claims", "must not be negative.")
	case limits.Pools != nil && *limits.Pools < 0:
		return ipam.Invalid("/spec/limits/pools", "must not be negative.")
	case scope.Family != "" && scope.Family != ipam.IPv4 && scope.Family != ipam.IPv6:
		return ipam.Invalid("/spec/scope/ipFamily", "must be IPv4 or IPv6.")
	case scope.Pool != (ipam.Ref{}) && !(ipam.ValidName(scope.Pool.Project) && ipam.ValidName(scope.Pool.Name)):
		return ipam.Invalid("/spec/scope/poolRef", "must name a pool and its project.")
	case scope.Class != (ipam.Ref{}) && !(ipam.ValidName(scope.Class.Project) && ipam.ValidName(scope.Class.Name)):
		return ipam.Invalid("/spec/scope/classRef", "must name a class and its project.")
	}
	return ipam.CheckText("/spec/description", spec.Description, ipam.MaxDescription, true)
}

// allAddresses is the number of addresses in IPv6.
var allAddresses = new(big.Int).Lsh(big.NewInt(1), 128)

func sameLimits(a, b ipam.QuotaLimits) bool {
	same := func(x, y *int64) bool { return (x == nil) == (y == nil) && (x == nil || *x == *y) }
	return (a.Addresses == nil) == (b.Addresses == nil) && (a.Addresses == nil || a.Addresses.Cmp(b.Addresses) == 0) &&
		same(a.Claims, b.Claims) && same(a.Pools, b.Pools)
}

// shardUpdates compares two states of the same shards, and returns the shards with a different spare.
func shardUpdates(was, now []ipam.QuotaShard) []storage.ShardUpdate {
	var out []storage.ShardUpdate
	for i := range was {
		if a, b := was[i].Spare, now[i].Spare; !a.Add(b.Negative()).IsZero() {
			out = append(out, storage.ShardUpdate{Was: was[i], Now: now[i]})
		}
	}
	return out
}

// recordedQuota returns the event record for a quota. The limit on addresses is text, because many JSON parsers round large numbers.
func recordedQuota(q ipam.Quota) *trail.Record {
	type limits struct {
		Addresses string `json:"addresses,omitempty"`
		Claims    *int64 `json:"claims,omitempty"`
		Pools     *int64 `json:"pools,omitempty"`
	}
	spec := struct {
		Scope       ipam.QuotaScope `json:"scope,omitzero"`
		Limits      limits          `json:"limits"`
		Description string          `json:"description,omitempty"`
	}{q.Spec.Scope, limits{Claims: q.Spec.Limits.Claims, Pools: q.Spec.Limits.Pools}, q.Spec.Description}
	if q.Spec.Limits.Addresses != nil {
		spec.Limits.Addresses = q.Spec.Limits.Addresses.String()
	}
	r := trail.Recorded(q.Metadata, spec)
	r.Owner = q.Owner
	return r
}
