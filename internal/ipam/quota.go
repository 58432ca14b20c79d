package ipam

import "math/big"

// Quota bounds what a project may hold.
type Quota struct {
	Metadata
	ProjectID ID         `json:"projectId"`
	Owner     QuotaOwner `json:"owner"`
	Spec      QuotaSpec  `json:"spec"`
	Used      Usage      `json:"used"`
	Overdrawn bool       `json:"-"` // a limit is below what is used
}

// QuotaOwner is whose bound a quota is: what the platform has set, the project that it bounds cannot change.
type QuotaOwner string

// The owners.
const (
	QuotaOfPlatform QuotaOwner = "platform" // set by an admin of the platform
	QuotaOfProject  QuotaOwner = "project"  // set by an admin of the project alone
)

// QuotaSpec is what the caller writes of a quota.
type QuotaSpec struct {
	Scope       QuotaScope  `json:"scope"`
	Limits      QuotaLimits `json:"limits"`
	Description string      `json:"description,omitempty"`
}

// QuotaScope narrows what a quota counts. The zero scope counts everything.
type QuotaScope struct {
	Pool   Ref    `json:"poolRef,omitzero"`
	Class  Ref    `json:"classRef,omitzero"` // claims that the class served, and pools carved for its scopes
	Family Family `json:"ipFamily,omitempty"`
}

// HoldPlace is where a block is held: carved from a pool (zero: from a space), by a class (zero: by none), of a family.
type HoldPlace struct {
	Pool   Ref
	Class  Ref
	Family Family
}

// Covers reports whether a block at a place counts.
func (s QuotaScope) Covers(at HoldPlace) bool {
	return (s.Pool == Ref{} || s.Pool == at.Pool) && (s.Class == Ref{} || s.Class == at.Class) && (s.Family == "" || s.Family == at.Family)
}

// QuotaLimits are the bounds; nil: not bounded.
type QuotaLimits struct {
	Addresses *big.Int `json:"addresses,omitempty"`
	Claims    *int64   `json:"claims,omitempty"`
	Pools     *int64   `json:"pools,omitempty"`
}

// Usage is what is held: addresses by claims, bound or retained; claims; pools.
type Usage struct {
	Addresses *big.Int `json:"addresses"` // nil: 0
	Claims    int64    `json:"claims"`
	Pools     int64    `json:"pools"`
}

// Add answers the sum of two usages, as a new value.
func (u Usage) Add(v Usage) Usage {
	return Usage{Addresses: new(big.Int).Add(u.addresses(), v.addresses()), Claims: u.Claims + v.Claims, Pools: u.Pools + v.Pools}
}

// Negative answers the usage to add for what is given back.
func (u Usage) Negative() Usage {
	return Usage{Addresses: new(big.Int).Neg(u.addresses()), Claims: -u.Claims, Pools: -u.Pools}
}

// IsZero reports whether nothing is used.
func (u Usage) IsZero() bool { return u.addresses().Sign() == 0 && u.Claims == 0 && u.Pools == 0 }

func (u Usage) addresses() *big.Int {
	if u.Addresses == nil {
		return new(big.Int)
	}
	return u.Addresses
}

// QuotaShards is into how many rows the figures of a quota are divided in each region, so that transactions on different pools seldom
// meet in one.
const QuotaShards = 16

// QuotaShard is one part of a quota's figures. Over all shards of a quota, for each measure that is bounded,
// the spare adds up to the limit less what is used.
type QuotaShard struct {
	Region  string
	QuotaID ID
	Shard   int // 0 to QuotaShards-1
	Used    Usage
	Spare   Usage // what may still be taken from this shard; zero for what is not bounded
}
