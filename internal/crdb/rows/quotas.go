package rows

import (
	"math/big"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

type quotaRow struct {
	ipam.Quota
	family int16
}

var quotaColumns = slices.Concat(
	recordColumns(func(r *quotaRow) *ipam.Metadata { return &r.Metadata }),
	refColumns("pool_project", "pool_name", func(r *quotaRow) *ipam.Ref { return &r.Spec.Scope.Pool }),
	refColumns("class_project", "class_name", func(r *quotaRow) *ipam.Ref { return &r.Spec.Scope.Class }),
	table[quotaRow]{
		id("project_id", func(r *quotaRow) *ipam.ID { return &r.ProjectID }),
		plain("name", func(r *quotaRow) *string { return &r.Name }),
		plain("af", func(r *quotaRow) *int16 { return &r.family }),
		nullableNumber("limit_addresses", func(r *quotaRow) **big.Int { return &r.Spec.Limits.Addresses }),
		pointer("limit_claims", func(r *quotaRow) **int64 { return &r.Spec.Limits.Claims }),
		pointer("limit_pools", func(r *quotaRow) **int64 { return &r.Spec.Limits.Pools }),
		plain("overdrawn", func(r *quotaRow) *bool { return &r.Overdrawn }),
		plain("description", func(r *quotaRow) *string { return &r.Spec.Description }),
		text("owner", func(r *quotaRow) *ipam.QuotaOwner { return &r.Owner }),
	})

func usageColumns[R any](prefix string, of func(*R) *ipam.Usage) table[R] {
	return table[R]{
		number(prefix+"_addresses", func(r *R) **big.Int { return &of(r).Addresses }),
		plain(prefix+"_claims", func(r *R) *int64 { return &of(r).Claims }),
		plain(prefix+"_pools", func(r *R) *int64 { return &of(r).Pools }),
	}
}

// Quotas maps quotas to rows. A quota that is read has its usage, but lacks its project's name. The usage is never written.
var Quotas = kindOf(
	slices.Concat(quotaColumns, usageColumns("used", func(r *quotaRow) *ipam.Usage { return &r.Used })),
	func(q ipam.Quota, _ *documents) quotaRow { return quotaRow{q, familyCounted(q.Spec.Scope)} }, (*quotaRow).quota)

// familyCounted returns a quota's address family as a number. 0 means both families.
func familyCounted(s ipam.QuotaScope) int16 {
	if s.Family == "" {
		return 0
	}
	return FamilyNumber(s.Family)
}

func (r *quotaRow) quota() (ipam.Quota, error) {
	switch r.family {
	case 4:
		r.Spec.Scope.Family = ipam.IPv4
	case 6:
		r.Spec.Scope.Family = ipam.IPv6
	}
	return r.Quota, nil
}

var partColumns = slices.Concat(
	table[ipam.QuotaShard]{
		id("quota_id", func(r *ipam.QuotaShard) *ipam.ID { return &r.QuotaID }),
		plain("shard", func(r *ipam.QuotaShard) *int { return &r.Shard }),
	},
	usageColumns("used", func(r *ipam.QuotaShard) *ipam.Usage { return &r.Used }),
	usageColumns("spare", func(r *ipam.QuotaShard) *ipam.Usage { return &r.Spare }))

// Shards maps quota shards to rows.
var Shards = kindOf(
	append(slices.Clone(partColumns), plain("region", func(r *ipam.QuotaShard) *string { return &r.Region })), asItIs, asRead)

type quotaPartRow struct {
	quota quotaRow
	shard ipam.QuotaShard
}

// QuotaParts reads quotas, each with one shard in a region. The shard may be missing.
var QuotaParts = kindOf(slices.Concat(
	within(quotaColumns, func(r *quotaPartRow) *quotaRow { return &r.quota }),
	within(partColumns, func(r *quotaPartRow) *ipam.QuotaShard { return &r.shard }),
), nil, func(r *quotaPartRow) (storage.QuotaPart, error) {
	quota, err := r.quota.quota()
	return storage.QuotaPart{Quota: quota, Shard: r.shard, Missing: r.shard.Shard < 0}, err
})
