package ipam

import "math/big"

// Quota limits a project's usage.
type Quota struct {
	Metadata
	ProjectID ID         `json:"projectId"`
	Owner     QuotaOwner `json:"owner"`
	Spec      QuotaSpec  `json:"spec"`
	Used      Usage      `json:"used"`
	Overdrawn bool       `json:"-"` // a limit is below the usage
}

// QuotaOwner is a quota's owner. The limited project cannot change a quota that the platform has set.
type QuotaOwner string

// The owners.
const (
	QuotaOfPlatform QuotaOwner = "platform" // set by a platform admin
	QuotaOfProject  QuotaOwner = "project"  // set by a project admin that is not a platform admin
)

// QuotaSpec has the quota fields that the caller sets.
type QuotaSpec struct {
	Scope       QuotaScope  `json:"scope"`
	Limits      QuotaLimits `json:"limits"`
	Description string      `json:"description,omitempty"`
}

// QuotaScope restricts the usage that a quota counts. The zero scope counts everything.
type QuotaScope struct {
	Pool   Ref    `json:"poolRef,omitzero"`
	Class  Ref    `json:"classRef,omitzero"` // claims that the class served, and pools made for its scopes
	Family Family `json:"ipFamily,omitempty"`
}

// QuotaSubject has the properties that decide which quotas count a held block. A zero Pool means that the block is directly in a space. A zero Class
// means that the block has no class.
type QuotaSubject struct {
	Pool   Ref
	Class  Ref
	Family Family
}

// Covers reports whether a quota with this scope counts a block.
func (s QuotaScope) Covers(subject QuotaSubject) bool {
	return (s.Pool == Ref{} || s.Pool == subject.Pool) && (s.Class == Ref{} || s.Class == subject.Class) && (s.Family == "" || s.Family == subject.Family)
}

// QuotaLimits has a quota's limits. nil means unlimited.
type QuotaLimits struct {
	Addresses *big.Int `json:"addresses,omitempty"`
	Claims    *int64   `json:"claims,omitempty"`
	Pools     *int64   `json:"pools,omitempty"`
}

// Usage has the quantities that a quota counts. Addresses counts addresses in claims and in retained blocks.
type Usage struct {
	Addresses *big.Int `json:"addresses"` // nil: 0
	Claims    int64    `json:"claims"`
	Pools     int64    `json:"pools"`
}

// Add returns the sum, as a new value.
func (u Usage) Add(v Usage) Usage {
	return Usage{Addresses: new(big.Int).Add(u.addresses(), v.addresses()), Claims: u.Claims + v.Claims, Pools: u.Pools + v.Pools}
}

// Negative returns the negated usage. Its sum with another usage subtracts it.
func (u Usage) Negative() Usage {
	return Usage{Addresses: new(big.Int).Neg(u.addresses()), Claims: -u.Claims, Pools: -u.Pools}
}

// IsZero reports whether the usage is zero.
func (u Usage) IsZero() bool { return u.addresses().Sign() == 0 && u.Claims == 0 && u.Pools == 0 }

func (u Usage) addresses() *big.Int {
	if u.Addresses == nil {
		return new(big.Int)
	}
	return u.Addresses
}

// QuotaShards is the number of rows that hold a quota's figures in each region. A quota has several rows so that transactions on different pools
// seldom use the same row.
const QuotaShards = 16

// QuotaShard is one part in a quota's figures. For each measure with a limit, the spares in all shards add up to the limit less the usage.
type QuotaShard struct {
	Region  string
	QuotaID ID
	Shard   int // 0 to QuotaShards-1
	Used    Usage
	Spare   Usage // amount that this shard can still give out; zero for a measure without a limit
}
