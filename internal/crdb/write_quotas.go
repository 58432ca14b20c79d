package crdb

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (w *writer) quotaDelete(q ipam.Quota) {
	w.hit("quota_delete", 1, uuid(q.ProjectID), q.Name, uuid(q.Revision))
	w.any("shard_delete", uuid(q.UID))
}

func (w *writer) quotaUpdates(ch storage.QuotaChanges) {
	if u := ch.QuotaUpdate; u != nil {
		q, s := u.Now, u.Now.Spec
		w.hit("quota_update", 1, uuid(q.ProjectID), q.Name, uuid(u.Was), s.Scope.Pool.Project, s.Scope.Pool.Name,
			s.Scope.Class.Project, s.Scope.Class.Name, scopeNumber(s.Scope),
			decimal(s.Limits.Addresses), s.Limits.Claims, s.Limits.Pools, q.Overdrawn, s.Description, q.Generation, uuid(q.Revision), q.UpdatedAt, string(q.Owner))
	}
	for _, m := range ch.QuotaOverdrawn {
		w.hit("quota_mark", 1, uuid(m.ProjectID), m.Name, m.Overdrawn)
	}
	for _, u := range inOneOrder(ch.ShardUpdate) {
		was, now := u.Was, u.Now
		w.hit("shard_update", 1, now.Region, uuid(now.QuotaID), now.Shard,
			addresses(was.Used), was.Used.Claims, was.Used.Pools, addresses(was.Spare), was.Spare.Claims, was.Spare.Pools,
			addresses(now.Used), now.Used.Claims, now.Used.Pools, addresses(now.Spare), now.Spare.Claims, now.Spare.Pools)
	}
}

// inOneOrder sorts by key, so that two transactions which change several of the same rows wait for each other and do not lock each
// other out.
func inOneOrder(list []storage.ShardUpdate) []storage.ShardUpdate {
	return slices.SortedFunc(slices.Values(list), func(a, b storage.ShardUpdate) int {
		return cmp.Or(bytes.Compare(a.Now.QuotaID[:], b.Now.QuotaID[:]), strings.Compare(a.Now.Region, b.Now.Region), a.Now.Shard-b.Now.Shard)
	})
}

func (w *writer) quotaInserts(ch storage.QuotaChanges) {
	if q := ch.QuotaInsert; q != nil {
		s := q.Spec
		w.hit("quota_insert", 1, uuid(q.UID), uuid(q.ProjectID), q.Name, s.Scope.Pool.Project, s.Scope.Pool.Name,
			s.Scope.Class.Project, s.Scope.Class.Name, scopeNumber(s.Scope),
			decimal(s.Limits.Addresses), s.Limits.Claims, s.Limits.Pools, q.Overdrawn, s.Description,
			q.Generation, uuid(q.Revision), q.CreatedAt, q.UpdatedAt, q.CreatedBy, string(q.Owner))
	}
	for region, list := range inRegions(ch.ShardInsert, func(s ipam.QuotaShard) string { return s.Region }) {
		w.shards(region, list)
	}
}

func (w *writer) shards(region string, list []ipam.QuotaShard) {
	n := len(list)
	var (
		quotas                   = make([][16]byte, n)
		numbers                  = make([]int16, n)
		usedAddresses, addrSpare = make([]pgtype.Numeric, n), make([]pgtype.Numeric, n)
		usedClaims, spareClaims  = make([]int64, n), make([]int64, n)
		usedPools, sparePools    = make([]int64, n), make([]int64, n)
	)
	for i, s := range list {
		quotas[i], numbers[i] = uuid(s.QuotaID), int16(s.Shard) //nolint:gosec // 0 to 15
		usedAddresses[i], usedClaims[i], usedPools[i] = addresses(s.Used), s.Used.Claims, s.Used.Pools
		addrSpare[i], spareClaims[i], sparePools[i] = addresses(s.Spare), s.Spare.Claims, s.Spare.Pools
	}
	w.hit("shard_insert", n, region, quotas, numbers, usedAddresses, usedClaims, usedPools, addrSpare, spareClaims, sparePools)
}

// scopeNumber is the family that a quota counts; 0: both.
func scopeNumber(s ipam.QuotaScope) int16 {
	switch s.Family {
	case ipam.IPv4:
		return 4
	case ipam.IPv6:
		return 6
	default:
		return 0
	}
}
