package quota

import (
	"math/big"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/ipam"
)

// measure is a quantity that a quota limits; its value is the name used in figures.
type measure string

const (
	ofAddresses measure = "addresses"
	ofClaims    measure = "claims"
	ofPools     measure = "pools"
)

// Measures has all measures, in the order in which they are checked.
var Measures = [...]measure{ofAddresses, ofClaims, ofPools}

// Of returns the measure's part in a usage; the caller must not modify it.
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

// only returns a usage with n of this measure and nothing else.
func (m measure) only(n *big.Int) ipam.Usage {
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

// bounded returns the part in a usage that the limits restrict.
func bounded(u ipam.Usage, l ipam.QuotaLimits) ipam.Usage {
	var out ipam.Usage
	for _, m := range Measures {
		if m.Limit(l) != nil {
			out = out.Add(m.only(m.Of(u)))
		}
	}
	return out
}

// sameUsage compares by value.
func sameUsage(a, b ipam.Usage) bool { return a.Add(b.Negative()).IsZero() }

// powers has the powers of two, for counting addresses; they must not be modified.
var powers = func() (all [129]*big.Int) {
	for n := range all {
		all[n] = new(big.Int).Lsh(big.NewInt(1), uint(n))
	}
	return all
}()

// ClaimUsage returns the usage by a claim for a block with length bits from a pool.
func ClaimUsage(pool ipam.Pool, bits int) ipam.Usage {
	return ipam.Usage{Claims: 1, Addresses: powers[freespace.Width(pool.Block)-bits]}
}

// ReleasedUsage returns the usage that ends when a claim is released: a retained block's addresses still count.
func ReleasedUsage(c ipam.Claim) ipam.Usage {
	u := ipam.Usage{Claims: 1}
	if c.ReclaimPolicy == ipam.ReclaimDelete {
		u.Addresses = freespace.Size(c.Block)
	}
	return u
}

// ClaimPlace returns the quota place for a claim's block in a pool; class is zero for a claim without one.
func ClaimPlace(pool ipam.Pool, class ipam.ClassRef) ipam.HoldPlace {
	return ipam.HoldPlace{Pool: pool.Ref(), Class: class.Ref, Family: pool.Family()}
}

// AllocationPlace returns the quota place for an allocation.
func AllocationPlace(a ipam.Allocation) ipam.HoldPlace {
	return ipam.HoldPlace{Pool: a.Pool, Class: a.Class.Ref, Family: ipam.FamilyOf(a.Block.Addr())}
}

// PoolPlace returns the quota place for a pool: its parent, or its space.
func PoolPlace(p ipam.Pool) ipam.HoldPlace {
	at := ipam.HoldPlace{Pool: p.Spec.Parent, Family: p.Family()}
	if p.Scope != nil {
		at.Class = p.Scope.Class.Ref
	}
	return at
}
