package ipam

import (
	"net/netip"
	"slices"
	"time"
)

// Visibility determines which projects may use a pool.
type Visibility string

// The visibilities. VisibilityConsumer (only the owning project) is the default.
const (
	VisibilityPlatform Visibility = "platform"
	VisibilityConsumer Visibility = "consumer"
	VisibilityShared   Visibility = "shared"
)

// Strategy determines which of the suitable free blocks a claim gets.
type Strategy string

// The strategies. BestFit is the default.
const (
	FirstFit Strategy = "FirstFit" // the lowest address
	BestFit  Strategy = "BestFit"  // the smallest suitable free block: keeps large blocks whole
	Random   Strategy = "Random"   // a random position
	Sparse   Strategy = "Sparse"   // the beginning of the largest free block: leaves room to grow after each block
)

// Drain stops all carving from a pool, and determines whether the empty pool is deleted.
type Drain string

// The values; "" is no drain.
const (
	DrainKeep   Drain = "Keep"
	DrainDelete Drain = "Delete"
)

// Pool is a block from which others are carved.
type Pool struct {
	Metadata
	ProjectID          ID           `json:"projectId"`
	SpaceID            ID           `json:"spaceId"`
	ContainerID        ID           `json:"containerId"`        // the source: the parent pool, or the space's container
	ContainerProjectID ID           `json:"containerProjectId"` // the project that owns the container
	Block              netip.Prefix `json:"block"`
	Space              Ref          `json:"space"`
	Spec               PoolSpec     `json:"spec"`
	Classes            []ClassRef   `json:"classes,omitempty"` // the classes that Spec.ClassNames named when it was written, in that order
	Scope              *PoolScope   `json:"scope,omitempty"`   // the one class and scope that the pool was carved for
	EmptySince         time.Time    `json:"emptySince,omitzero"`
	Stock              Stock        `json:"stock"`
	Regional           []PoolRegion `json:"regional,omitempty"` // if the pool serves several regions: its state in each, in the order of Spec.Regions

	// At is the region where a request uses the pool, if that is not its home. It is not stored.
	At string `json:"-"`
}

// PoolSpec has the pool fields that the caller sets.
type PoolSpec struct {
	CIDR         netip.Prefix  `json:"cidr,omitzero"` // root: the block; child: this exact block of the parent
	Parent       Ref           `json:"parentRef,omitzero"`
	PrefixLength *int          `json:"prefixLength,omitempty"` // child: any block with this length
	Space        Ref           `json:"spaceRef,omitzero"`      // root: the source space
	Visibility   Visibility    `json:"visibility"`
	Allocation   Allocating    `json:"allocation"`
	Reservations []Reservation `json:"reservations,omitempty"`
	Description  string        `json:"description,omitempty"`
	Drain        Drain         `json:"drain,omitempty"`

	ClassNames []string       `json:"classNames,omitempty"` // classes that the pool backs, from its project or else from the platform
	ReuseAfter *time.Duration `json:"reuseAfter,omitempty"` // cool-down of released blocks, unless a class sets one; nil: none

	Region  string   `json:"region,omitempty"`  // the home; "": the region of the server that makes the pool
	Regions []string `json:"regions,omitempty"` // the regions that it serves, including the home; empty: the home alone
}

// Allocating is the policy for carving from a pool. Unset lengths mean: Min is the pool's own length, Max is a host address, and without Default a
// claim must set its length.
type Allocating struct {
	Strategy            Strategy `json:"strategy"`
	MinPrefixLength     *int     `json:"minPrefixLength,omitempty"` // the largest block that may be carved
	MaxPrefixLength     *int     `json:"maxPrefixLength,omitempty"` // the smallest block that may be carved
	DefaultPrefixLength *int     `json:"defaultPrefixLength,omitempty"`
}

// Bounds returns the prefix lengths that the policy allows to carve from a block, both inclusive.
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

// Family returns the family of the pool's block.
func (p Pool) Family() Family { return FamilyOf(p.Block.Addr()) }

// Backs reports whether the pool lists a class.
func (p Pool) Backs(class ID) bool {
	return slices.ContainsFunc(p.Classes, func(c ClassRef) bool { return c.ID == class })
}

// Draining reports whether carving from the pool has stopped.
func (p Pool) Draining() bool { return p.Spec.Drain != "" }

// Ref returns the pool's reference.
func (p Pool) Ref() Ref { return Ref{Project: p.Project, Name: p.Name} }

// Reservation keeps a part of a pool from being carved. Exactly one of CIDR, From+To, First, Last is set.
type Reservation struct {
	CIDR   netip.Prefix `json:"cidr,omitzero"`
	From   netip.Addr   `json:"from,omitzero"` // with To: both inclusive
	To     netip.Addr   `json:"to,omitzero"`
	First  int          `json:"first,omitempty"` // the first n addresses of the pool
	Last   int          `json:"last,omitempty"`  // the last n addresses of the pool
	Reason string       `json:"reason,omitempty"`
}

// Limits for reservations.
const (
	MaxReservations      = 64
	MaxReservedAddresses = 65536 // for First and Last
	MaxReservedBlocks    = 2048  // aligned blocks for all reservations of a pool
)

// Phase returns Draining, Exhausted if nothing is free, or Ready. (A pool that could not be carved does not exist.)
func (p Pool) Phase() string {
	if p.Draining() {
		return "Draining"
	}
	if _, ok := p.Stock.LargestFree(); !ok {
		return "Exhausted"
	}
	return "Ready"
}
