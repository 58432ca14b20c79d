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

// Strategy determines which suitable free block a claim gets.
type Strategy string

// The strategies. BestFit is the default.
const (
	FirstFit Strategy = "FirstFit" // the lowest address
	BestFit  Strategy = "BestFit"  // in the smallest suitable free block, which keeps large blocks whole
	Random   Strategy = "Random"   // a random position
	Sparse   Strategy = "Sparse"   // where the largest free block begins, which leaves room to grow after each block
)

// Drain stops a pool from giving out blocks. It also determines whether Carve deletes the pool when it is empty.
type Drain string

// The values. "" means that the pool does not drain.
const (
	DrainKeep   Drain = "Keep"
	DrainDelete Drain = "Delete"
)

// Pool is a block that Carve divides into smaller blocks.
type Pool struct {
	Metadata
	ProjectID          ID           `json:"projectId"`
	SpaceID            ID           `json:"spaceId"`
	ContainerID        ID           `json:"containerId"`        // the source: the parent pool, or the space's container
	ContainerProjectID ID           `json:"containerProjectId"` // the project that owns the container
	Block              netip.Prefix `json:"block"`
	Space              Ref          `json:"space"`
	Spec               PoolSpec     `json:"spec"`
	Classes            []ClassRef   `json:"classes,omitempty"` // the classes that Spec.ClassNames meant when it last changed, in the same order
	Scope              *PoolScope   `json:"scope,omitempty"`   // the class and scope that Carve made the pool for; nil: none
	EmptySince         time.Time    `json:"emptySince,omitzero"`
	Stock              Stock        `json:"stock"`
	Regional           []PoolRegion `json:"regional,omitempty"` // state in each region, in Spec.Regions' order; empty if the pool serves only its home

	// UsedIn is the region in which a request uses the pool. It is "" for the home region. It is not stored.
	UsedIn string `json:"-"`
}

// PoolSpec has the pool fields that the caller sets.
type PoolSpec struct {
	CIDR         netip.Prefix  `json:"cidr,omitzero"` // root pool: its block; child pool: the exact block from the parent
	Parent       Ref           `json:"parentRef,omitzero"`
	PrefixLength *int          `json:"prefixLength,omitempty"` // child pool: its block's length
	Space        Ref           `json:"spaceRef,omitzero"`      // root pool: the space that contains it
	Visibility   Visibility    `json:"visibility"`
	Allocation   Allocating    `json:"allocation"`
	Reservations []Reservation `json:"reservations,omitempty"`
	Description  string        `json:"description,omitempty"`
	Drain        Drain         `json:"drain,omitempty"`

	ClassNames []string       `json:"classNames,omitempty"` // classes that the pool backs; a name means the project's class, or otherwise the platform's class
	ReuseAfter *time.Duration `json:"reuseAfter,omitempty"` // cool-down for released blocks, unless a class sets one; nil: none

	Region  string   `json:"region,omitempty"`  // the home region; "": the creating server's region
	Regions []string `json:"regions,omitempty"` // the regions that the pool serves, including its home; empty: only its home
}

// Allocating is the policy for the blocks that a pool gives out. If MinPrefixLength is unset, it is the pool's own length. If MaxPrefixLength is
// unset, it is a host address's length. If DefaultPrefixLength is unset, a claim must set its length.
type Allocating struct {
	Strategy            Strategy `json:"strategy"`
	MinPrefixLength     *int     `json:"minPrefixLength,omitempty"` // the largest block's length
	MaxPrefixLength     *int     `json:"maxPrefixLength,omitempty"` // the smallest block's length
	DefaultPrefixLength *int     `json:"defaultPrefixLength,omitempty"`
}

// Bounds returns the shortest and the longest prefix length that the policy allows in a pool with this block.
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

// Root reports whether the pool is a root pool.
func (p Pool) Root() bool { return p.Spec.Parent == Ref{} }

// Family returns the family that the pool's block has.
func (p Pool) Family() Family { return FamilyOf(p.Block.Addr()) }

// Backs reports whether the pool lists a class.
func (p Pool) Backs(class ID) bool {
	return slices.ContainsFunc(p.Classes, func(c ClassRef) bool { return c.ID == class })
}

// Draining reports whether the pool has stopped giving out blocks.
func (p Pool) Draining() bool { return p.Spec.Drain != "" }

// Reservation excludes a part of a pool from claims and child pools. Exactly one of CIDR, From with To, First, and Last is set.
type Reservation struct {
	CIDR   netip.Prefix `json:"cidr,omitzero"`
	From   netip.Addr   `json:"from,omitzero"` // with To: both inclusive
	To     netip.Addr   `json:"to,omitzero"`
	First  int          `json:"first,omitempty"` // the pool's first n addresses
	Last   int          `json:"last,omitempty"`  // the pool's last n addresses
	Reason string       `json:"reason,omitempty"`
}

// Limits for reservations.
const (
	MaxReservations      = 64
	MaxReservedAddresses = 65536 // for First and Last
	MaxReservedBlocks    = 2048  // aligned blocks for all reservations in a pool
)

// Phase returns Draining, Exhausted or Ready. A pool is Exhausted if it has no free block.
func (p Pool) Phase() string {
	if p.Draining() {
		return "Draining"
	}
	if _, ok := p.Stock.LargestFree(); !ok {
		return "Exhausted"
	}
	return "Ready"
}
