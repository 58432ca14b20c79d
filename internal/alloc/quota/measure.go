package quota

import (
	"math/big"

	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/ipam"
)

// measure is one of the things that a quota counts, in the word that figures have for it.
type measure string

const (
	ofAddresses measure = "addresses"
	ofClaims    measure = "claims"
	ofPools     measure = "pools"
)

// Measures is all of them, in the order in which they are checked.
var Measures = [...]measure{ofAddresses, ofClaims, ofPools}

// Of is the measure's part of a usage; the caller does not change it.
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

// only is a usage of n of the measure and of nothing else.
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

// Limit is the measure's bound; nil: there is none.
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

// Words says "1 claim" or "2 claims".
func (m measure) Words(n *big.Int) string {
	one := map[measure]string{ofAddresses: "address", ofClaims: "claim", ofPools: "pool"}
	if n.IsInt64() && n.Int64() == 1 {
		return "1 " + one[m]
	}
	return n.String() + " " + string(m)
}

// bounded is the part of a usage that the limits bound.
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

// powers are the powers of two: numbers of addresses, which nobody changes.
var powers = func() (all [129]*big.Int) {
	for n := range all {
		all[n] = new(big.Int).Lsh(big.NewInt(1), uint(n))
	}
	return all
}()

// ClaimUsage is what a claim for a block of a length of a pool counts for.
func ClaimUsage(pool ipam.Pool, bits int) ipam.Usage {
	return ipam.Usage{Claims: 1, Addresses: powers[space.Width(pool.Block)-bits]}
}

// ReleasedUsage is what a claim that is released counts for no more: the addresses of a block that is retained go on counting.
func ReleasedUsage(c ipam.Claim) ipam.Usage {
	u := ipam.Usage{Claims: 1}
	if c.ReclaimPolicy == ipam.ReclaimDelete {
		u.Addresses = space.Size(c.Block)
	}
	return u
}

// ClaimPlace is where a claim by a class (zero: by none) holds a block of a pool.
func ClaimPlace(pool ipam.Pool, class ipam.ClassRef) ipam.HoldPlace {
	return ipam.HoldPlace{Pool: pool.Ref(), Class: class.Ref, Family: pool.Family()}
}

// AllocationPlace is where an allocation's block is held.
func AllocationPlace(a ipam.Allocation) ipam.HoldPlace {
	return ipam.HoldPlace{Pool: a.Pool, Class: a.Class.Ref, Family: ipam.FamilyOf(a.Block.Addr())}
}

// PoolPlace is where a pool is held: in its parent, or in its space.
func PoolPlace(p ipam.Pool) ipam.HoldPlace {
	at := ipam.HoldPlace{Pool: p.Spec.Parent, Family: p.Family()}
	if p.Scope != nil {
		at.Class = p.Scope.Class.Ref
	}
	return at
}
