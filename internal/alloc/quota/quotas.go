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

// quotas is quotas to a caller: what it must not change, it finds that it must not.
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
				ch.QuotaUpdate = &storage.QuotaUpdate{Was: was.Revision, Now: *now}
			}
		},
		May:    func(q ipam.Quota) error { return mayChangeQuota(who, q) },
		Record: recordedQuota,
		Check:  func(_ storage.ProjectKey, q ipam.Quota) error { return checkQuota(q.Spec) },
		SameSpec: func(a, b ipam.Quota) bool {
			return a.Spec.Scope == b.Spec.Scope && sameLimits(a.Spec.Limits, b.Spec.Limits) && a.Spec.Description == b.Spec.Description
		},
		SameElse: func(a, b ipam.Quota) bool { return a.Owner == b.Owner },
	}
}

// ListQuotas lists a project's quotas by name, with what is used of them.
func (s *Quotas) ListQuotas(ctx context.Context, project string, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Quota], error) {
	return s.quotas(tenancy.Principal{}).List(ctx, project, "quotas", storage.Reader.QuotaList, limit, cursor, r)
}

// GetQuota reads one quota with what is used of it.
func (s *Quotas) GetQuota(ctx context.Context, project, name string) (ipam.Quota, error) {
	return s.quotas(tenancy.Principal{}).Get(ctx, project, name)
}

// PutQuota sets a quota: it creates one, counting what the project holds already, or replaces the limits and the description of
// the one there is (Existed). Limits may be below what is used: nothing is taken away. The spec and the owner that it has already:
// nothing is written. What an admin of the platform has set is the platform's from then on, and nobody else's to change.
func (s *Quotas) PutQuota(ctx context.Context, project string, q ipam.Quota, r usecase.Request) (usecase.Result[ipam.Quota], error) {
	who, key, err := s.Enter(ctx, tenancy.QuotasWrite, project)
	if err != nil {
		return usecase.Result[ipam.Quota]{}, err
	}
	if err := usecase.CheckNew(&q.Metadata, checkQuota(q.Spec)); err != nil {
		return usecase.Result[ipam.Quota]{}, err
	}
	made := ipam.Quota{Metadata: s.Fresh(ipam.Metadata{Name: q.Name}, project, "", who), ProjectID: key.ID, Owner: quotaOwner(who), Spec: q.Spec}
	locks := storage.Locks{Alone: []ipam.ID{key.ID}} // nobody takes or gives back while it is counted
	// A project's own admin may change the project's own quotas alone, so that an owner only ever becomes the platform.
	over := func(was ipam.Quota) ipam.Quota {
		was.Spec, was.Owner = made.Spec, made.Owner
		return was
	}
	answer, err := s.quotas(who).Put(ctx, key, made, r, locks, over, func(ctx context.Context, tx storage.Tx, was, now *ipam.Quota) (storage.Changes, error) {
		if was == nil {
			return count(ctx, tx, s.Region, key, now)
		}
		return recount(ctx, tx, was, now)
	})
	return answer, s.deniedQuota(ctx, project, err)
}

// quotaOwner is whose a quota is that the caller sets.
func quotaOwner(who tenancy.Principal) ipam.QuotaOwner {
	if who.PlatformAdmin() {
		return ipam.QuotaOfPlatform
	}
	return ipam.QuotaOfProject
}

// mayChangeQuota refuses a project's own admin what the platform has set, or it would bound nobody.
func mayChangeQuota(who tenancy.Principal, q ipam.Quota) error {
	if q.Owner == ipam.QuotaOfProject || who.PlatformAdmin() {
		return nil
	}
	return ipam.Errorf(ipam.CodePermissionDenied,
		"Quota %s/%s was set by the platform: only an admin of project %q may change or delete it. You are %s, with the role %s in project %q; you may set quotas of your own beside it.",
		q.Project, q.Name, ipam.PlatformProject, who.Subject, who.RoleIn(q.Project), q.Project)
}

// deniedQuota records that somebody tried to change what the platform has set; the error stays what it is.
func (s *Quotas) deniedQuota(ctx context.Context, project string, err error) error {
	refused, ok := errors.AsType[*ipam.Error](err)
	if !ok || refused.Code != ipam.CodePermissionDenied || !tenancy.Recorded(ctx) {
		return err
	}
	if failed := trail.RecordRefusal(ctx, s.Core, tenancy.QuotasWrite, project, refused.Code); failed != nil {
		return refused.Because(failed)
	}
	return err
}

// count gives a new quota what the project holds at this moment. Claims do not know of it yet; so none is made meanwhile.
func count(ctx context.Context, tx storage.Tx, own string, key storage.ProjectKey, made *ipam.Quota) (storage.Changes, error) {
	none := storage.Changes{}
	if err := usecase.StillThere(ctx, tx, key); err != nil {
		return none, err
	}
	if err := scopeThere(ctx, tx, key, made.Spec.Scope); err != nil {
		return none, err
	}
	others, err := tx.QuotaList(ctx, key, "", storage.MaxQuotas)
	if err != nil {
		return none, err
	}
	if len(others) == storage.MaxQuotas {
		return none, ipam.Invalid("path:quota", "would be one more than the %d quotas that a project can have; replace or delete one of them.", storage.MaxQuotas)
	}
	used, err := counted(ctx, tx, key, made.Spec.Scope)
	if err != nil {
		return none, err
	}
	regions, err := tx.Regions(ctx)
	if err != nil {
		return none, err
	}
	places := []string{own}
	for _, r := range regions {
		if r.Name != own {
			places = append(places, r.Name)
		}
	}
	made.Used = ipam.Usage{}.Add(used)
	made.Overdrawn = overdrawn(made.Spec.Limits, used)
	return storage.Changes{QuotaChanges: storage.QuotaChanges{ShardInsert: sharded(made.UID, made.Spec.Limits, used, places)}}, nil
}

// counted counts the claims and pools of a project. The cost grows with their number and is known afterwards. So counting does not begin while the caller or
// its project is in debt.
func counted(ctx context.Context, tx storage.Tx, key storage.ProjectKey, scope ipam.QuotaScope) (ipam.Usage, error) {
	budget := tenancy.BudgetOf(ctx)
	if err := budget.Charge(tenancy.Work{Rows: 1}); err != nil {
		return ipam.Usage{}, err
	}
	used, err := tx.UsageCount(ctx, key, scope)
	budget.Add(tenancy.Work{Counted: int(used.Claims + used.Pools)})
	return used, err
}

// scopeThere refuses a scope that names a pool or a class of the quota's own project which is not there: such a bound would bound nothing.
// Of other projects' nothing is looked up, because the answer would tell.
func scopeThere(ctx context.Context, read storage.Reader, key storage.ProjectKey, scope ipam.QuotaScope) error {
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

// recount spreads what is left by new limits over the shards of a quota.
func recount(ctx context.Context, tx storage.Tx, was, now *ipam.Quota) (storage.Changes, error) {
	none := storage.Changes{}
	if was.Spec.Scope != now.Spec.Scope {
		return none, ipam.Errorf(ipam.CodeImmutableField, "A quota keeps its scope: delete it and make another.").
			At("/spec/scope", "differs from that of the quota.")
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

// DeleteQuota removes a quota: it bounds nothing any more.
func (s *Quotas) DeleteQuota(ctx context.Context, project, name string, r usecase.Request) error {
	who, key, err := s.Enter(ctx, tenancy.QuotasWrite, project)
	if err != nil {
		return err
	}
	locks := func(ipam.Quota) (storage.Locks, error) { return storage.Locks{Alone: []ipam.ID{key.ID}}, nil }
	return s.deniedQuota(ctx, project, s.quotas(who).Delete(ctx, key, name, r, locks, nil))
}

// checkQuota validates a quota's spec.
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

// allAddresses is how many addresses a whole space of IPv6 has.
var allAddresses = new(big.Int).Lsh(big.NewInt(1), 128)

func sameLimits(a, b ipam.QuotaLimits) bool {
	same := func(x, y *int64) bool { return (x == nil) == (y == nil) && (x == nil || *x == *y) }
	return (a.Addresses == nil) == (b.Addresses == nil) && (a.Addresses == nil || a.Addresses.Cmp(b.Addresses) == 0) &&
		same(a.Claims, b.Claims) && same(a.Pools, b.Pools)
}

// shardUpdates is the difference between two states of a quota's shards.
func shardUpdates(was, now []ipam.QuotaShard) []storage.ShardUpdate {
	var out []storage.ShardUpdate
	for i := range was {
		if a, b := was[i].Spare, now[i].Spare; !a.Add(b.Negative()).IsZero() {
			out = append(out, storage.ShardUpdate{Was: was[i], Now: now[i]})
		}
	}
	return out
}

// recordedQuota is the record of a quota. Its limit of addresses is text: it may be more than a JSON number can say exactly.
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
