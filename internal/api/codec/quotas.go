package codec

import (
	"math/big"

	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// PutQuota converts a PUT body into a quota.
func PutQuota(project, name string, b gen.QuotaPut) (ipam.Quota, error) {
	spec, err := QuotaSpec(project, b.Spec)
	return ipam.Quota{Metadata: ipam.Metadata{Name: name}, Spec: spec}, err
}

// QuotaSpec converts a quota's spec.
func QuotaSpec(project string, s gen.QuotaSpec) (ipam.QuotaSpec, error) {
	spec := ipam.QuotaSpec{Limits: ipam.QuotaLimits{Claims: s.Limits.Claims, Pools: s.Limits.Pools}, Description: s.Description}
	if s.Scope != nil {
		spec.Scope = ipam.QuotaScope{
			Pool: ref(project, s.Scope.PoolRef), Class: ref(project, s.Scope.ClassRef), Family: ipam.Family(s.Scope.IPFamily),
		}
	}
	if s.Limits.Addresses != "" {
		n, ok := new(big.Int).SetString(s.Limits.Addresses, 10)
		if !ok {
			return spec, ipam.Invalid("/spec/limits/addresses", "must be a whole number, as a string of digits.")
		}
		spec.Limits.Addresses = n
	}
	return spec, nil
}

// QuotaOf converts a quota into its wire form.
func QuotaOf(q ipam.Quota) gen.Quota {
	limits, used := q.Spec.Limits, q.Used.Add(ipam.Usage{}) // the sum with an empty usage sets Addresses if it is nil
	out := gen.Quota{
		Metadata: metadataOf(q.Metadata),
		Spec: gen.QuotaSpec{
			Scope:       quotaScopeOf(q.Spec.Scope),
			Limits:      gen.QuotaLimits{Claims: limits.Claims, Pools: limits.Pools},
			Description: q.Spec.Description,
		},
		Status: gen.QuotaStatus{
			Owner:     gen.QuotaOwner(q.Owner),
			Used:      gen.QuotaUsed{Addresses: used.Addresses.String(), Claims: used.Claims, Pools: used.Pools},
			Available: gen.QuotaAvailable{Claims: unused(limits.Claims, used.Claims), Pools: unused(limits.Pools, used.Pools)},
		},
	}
	if limits.Addresses != nil {
		out.Spec.Limits.Addresses = limits.Addresses.String()
		available := new(big.Int).Sub(limits.Addresses, used.Addresses)
		if available.Sign() < 0 {
			available.SetInt64(0)
		}
		out.Status.Available.Addresses = available.String()
	}
	return out
}

func quotaScopeOf(s ipam.QuotaScope) *gen.QuotaScope {
	if s == (ipam.QuotaScope{}) {
		return nil
	}
	return &gen.QuotaScope{PoolRef: refOf(s.Pool), ClassRef: refOf(s.Class), IPFamily: gen.IPFamily(s.Family)}
}

// unused returns a limit's unused part, or nil without a limit.
func unused(limit *int64, used int64) *int64 {
	if limit == nil {
		return nil
	}
	return new(max(*limit-used, 0))
}
