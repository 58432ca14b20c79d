package ipam

import (
	"net/netip"
	"slices"
	"time"
)

// Visibility says which projects may use a pool.
type Visibility string

// The visibilities. VisibilityConsumer (only the owning project) is the default.
const (
	VisibilityPlatform Visibility = "platform"
	VisibilityConsumer Visibility = "consumer"
	VisibilityShared   Visibility = "shared"
)

// Strategy says which of the fitting free blocks a claim gets.
type Strategy string

// The strategies. BestFit is the default.
const (
	FirstFit Strategy = "FirstFit" // strictly the lowest address
	BestFit  Strategy = "BestFit"  // the tightest free block: keeps large blocks whole
	Random   Strategy = "Random"   // a random place
	Sparse   Strategy = "Sparse"   // the beginning of the largest free block: leaves room to grow behind each
)

// Drain says that nothing more is carved from a pool, and what becomes of the pool when it has become empty.
type Drain string

// The drains; "" is none.
const (
	DrainKeep   Drain = "Keep"
	DrainDelete Drain = "Delete"
)

// Pool is a block from which others are carved.
type Pool struct {
	Metadata
	ProjectID          ID           `json:"projectId"`
	SpaceID            ID           `json:"spaceId"`
	ContainerID        ID           `json:"containerId"`        // what the pool was carved from: its parent pool, or its space's container
	ContainerProjectID ID           `json:"containerProjectId"` // whose that is
	Block              netip.Prefix `json:"block"`
	Space              Ref          `json:"space"`
	Spec               PoolSpec     `json:"spec"`
	Classes            []ClassRef   `json:"classes,omitempty"` // what Spec.ClassNames named when it was written, in that order
	Scope              *PoolScope   `json:"scope,omitempty"`   // carved for claims of one class and scope, and for nobody else
	EmptySince         time.Time    `json:"emptySince,omitzero"`
	Stock              Stock        `json:"stock"`
	Regional           []PoolRegion `json:"regional,omitempty"` // of a pool that serves several regions, each in the order of Spec.Regions

	// At is the region that the pool is drawn from, or given back to, when that is not its home. It says what is meant in one request
	// and is not stored.
	At string `json:"-"`
}

// PoolSpec is what the caller writes of a pool.
type PoolSpec struct {
	CIDR         netip.Prefix  `json:"cidr,omitzero"` // root: the block; child: this very block of the parent
	Parent       Ref           `json:"parentRef,omitzero"`
	PrefixLength *int          `json:"prefixLength,omitempty"` // child: a block of this length
	Space        Ref           `json:"spaceRef,omitzero"`      // root: the space it is carved from
	Visibility   Visibility    `json:"visibility"`
	Allocation   Allocating    `json:"allocation"`
	Reservations []Reservation `json:"reservations,omitempty"`
	Description  string        `json:"description,omitempty"`
	Drain        Drain         `json:"drain,omitempty"`

	ClassNames []string       `json:"classNames,omitempty"` // classes of the pool's project, or else of the platform, that the pool backs
	ReuseAfter *time.Duration `json:"reuseAfter,omitempty"` // cool-down of released blocks, unless a class says otherwise; nil: none

	Region  string   `json:"region,omitempty"`  // the home; "": that of the server that makes the pool
	Regions []string `json:"regions,omitempty"` // where it is served, the home among them; empty: at home alone
}

// Allocating is the policy for carving from a pool. Unset lengths mean: Min = the pool's own length, Max = host
// addresses, Default = none, a claim must say its length.
type Allocating struct {
	Strategy            Strategy `json:"strategy"`
	MinPrefixLength     *int     `json:"minPrefixLength,omitempty"` // the largest block that may be carved
	MaxPrefixLength     *int     `json:"maxPrefixLength,omitempty"` // the smallest block that may be carved
	DefaultPrefixLength *int     `json:"defaultPrefixLength,omitempty"`
}

// Bounds are the prefix lengths that may be carved from a block under the policy, both inclusive.
func (a Allocating) Bounds(block netip.Prefix) (lo, hi int) {
	lo, hi = block.Bits(), block.Addr().BitLen()
	if a.MinPrefixLength != nil {
		lo = max(lo, *a.MinPrefixLength)
	}
	if a.MaxPrefixLength != nil {
		hi = min(hi, *a.MaxPrefixLength)
	}
	return lo, hi
}

// Root reports whether the pool was carved from its space.
func (p Pool) Root() bool { return p.Spec.Parent == Ref{} }

// Family of the pool's block.
func (p Pool) Family() Family { return FamilyOf(p.Block.Addr()) }

// Backs reports whether the pool lists a class.
func (p Pool) Backs(class ID) bool {
	return slices.ContainsFunc(p.Classes, func(c ClassRef) bool { return c.ID == class })
}

// Draining reports whether nothing more is to be carved from the pool.
func (p Pool) Draining() bool { return p.Spec.Drain != "" }

// Ref of the pool.
func (p Pool) Ref() Ref { return Ref{Project: p.Project, Name: p.Name} }

// Reservation withholds part of a pool from being carved. Exactly one of CIDR, From+To, First, Last is set.
type Reservation struct {
	CIDR   netip.Prefix `json:"cidr,omitzero"`
	From   netip.Addr   `json:"from,omitzero"` // with To: both inclusive
	To     netip.Addr   `json:"to,omitzero"`
	First  int          `json:"first,omitempty"` // the first n addresses of the pool
	Last   int          `json:"last,omitempty"`  // the last n addresses of the pool
	Reason string       `json:"reason,omitempty"`
}

// Bounds of reservations.
const (
	MaxReservations      = 64
	MaxReservedAddresses = 65536 // for First and Last
	MaxReservedBlocks    = 2048  // aligned blocks all reservations of a pool come to
)

// Phase is Draining while nothing more is to be carved, Exhausted when nothing is free, otherwise Ready. (A pool that could not be carved does not exist.)
func (p Pool) Phase() string {
	if p.Draining() {
		return "Draining"
	}
	if _, ok := p.Stock.LargestFree(); !ok {
		return "Exhausted"
	}
	return "Ready"
}
