package quota

import (
	"math/big"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/ipam"
)

// measure is a quantity that a quota limits. Its value is also its name in an error's figures.
type measure string

const (
	ofAddresses measure = "addresses"
	ofClaims    measure = "claims"
	ofPools     measure = "pools"
)

// Measures lists all measures in the order in which a quota checks them.
var Measures = [...]measure{ofAddresses, ofClaims, ofPools}

// Of returns the measure's amount in a usage. The caller must not modify the result.
func (m measure) Of(u ipam.Usage) *big.Int {
	switch {
	case m == ofClaims:
		return big.NewInt(u.Claims)
	case m == ofPools:
		return big.NewInt(u.Pools)
	case u.Addresses == nil:
		return new(big.Int)
	}
	return u.Addresses
}

// usageOf returns a usage with the amount n for this measure and zero for the others.
func (m measure) usageOf(n *big.Int) ipam.Usage {
	switch m {
	case ofClaims:
		return ipam.Usage{Claims: n.Int64()}
	case ofPools:
		return ipam.Usage{Pools: n.Int64()}
	case ofAddresses:
	}
	return ipam.Usage{Addresses: n}
}

// Limit returns the measure's limit, or nil if it has none.
func (m measure) Limit(l ipam.QuotaLimits) *big.Int {
	switch {
	case m == ofAddresses:
		return l.Addresses
	case m == ofClaims && l.Claims != nil:
		return big.NewInt(*l.Claims)
	case m == ofPools && l.Pools != nil:
		return big.NewInt(*l.Pools)
	}
	return nil
}

// Words formats "1 claim" or "2 claims".
func (m measure) Words(n *big.Int) string {
	one := map[measure]string{ofAddresses: "address", ofClaims: "claim", ofPools: "pool"}
	if n.IsInt64() && n.Int64() == 1 {
		return "1 " + one[m]
	}
	return n.String() + " " + string(m)
}

// limitedOnly returns a usage in which the measures without a limit are zero.
func limitedOnly(u ipam.Usage, l ipam.QuotaLimits) ipam.Usage {
	var out ipam.Usage
	for _, m := range Measures {
		if m.Limit(l) != nil {
			out = out.Add(m.usageOf(m.Of(u)))
		}
	}
	return out
}

func sameUsage(a, b ipam.Usage) bool { return a.Add(b.Negative()).IsZero() }

// powers contains the powers of two, which are the numbers of addresses in blocks. Nothing may modify them.
var powers = func() (all [129]*big.Int) {
	for n := range all {
		all[n] = new(big.Int).Lsh(big.NewInt(1), uint(n))
	}
	return all
}()

// ClaimUsage returns a claim's usage. bits is its block's prefix length.
func ClaimUsage(pool ipam.Pool, bits int) ipam.Usage {
	return ipam.Usage{Claims: 1, Addresses: powers[freespace.Width(pool.Block)-bits]}
}

// ReleasedUsage returns the usage that ends when a claim is released. It leaves out a retained block's addresses, because they still count.
func ReleasedUsage(c ipam.Claim) ipam.Usage {
	u := ipam.Usage{Claims: 1}
	if c.ReclaimPolicy == ipam.ReclaimDelete {
		u.Addresses = freespace.Size(c.Block)
	}
	return u
}

// ClaimSubject returns the pool, class and family that decide which quotas count a claim. class is zero for a claim without a class.
func ClaimSubject(pool ipam.Pool, class ipam.ClassRef) ipam.QuotaSubject {
	return ipam.QuotaSubject{Pool: pool.Ref(), Class: class.Ref, Family: pool.Family()}
}

// AllocationSubject returns the pool, class and family that decide which quotas count an allocation.
func AllocationSubject(a ipam.Allocation) ipam.QuotaSubject {
	return ipam.QuotaSubject{Pool: a.Pool, Class: a.Class.Ref, Family: ipam.FamilyOf(a.Block.Addr())}
}

// PoolSubject returns the pool, class and family that decide which quotas count a pool. The pool in the result is the parent, or zero for a root
// pool.
func PoolSubject(p ipam.Pool) ipam.QuotaSubject {
	at := ipam.QuotaSubject{Pool: p.Spec.Parent, Family: p.Family()}
	if p.Scope != nil {
		at.Class = p.Scope.Class.Ref
	}
	return at
}
