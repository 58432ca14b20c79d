package ipam

import "time"

// Provisioner names the system that provides a class's blocks. ProvisionerNative is the only one.
type Provisioner string

// ProvisionerNative means that this service provides the blocks.
const ProvisionerNative Provisioner = "native"

// PoolSelection is the order in which a claim tries the pools that back its class.
type PoolSelection string

// The orders. PoolsByName is the default.
const (
	PoolsByName        PoolSelection = "FirstFit"      // by name, so that one pool fills before the next one is used
	PoolsLeastUtilized PoolSelection = "LeastUtilized" // the pool with the smallest used share first
)

// UniqueWithin names the pools in which no two claims by a class overlap.
type UniqueWithin string

// The values. UniqueWithinSpace is the default. It needs no check, because claims in one space never overlap.
const (
	UniqueWithinSpace UniqueWithin = "Space" // the pools in one space
	UniqueWithinClass UniqueWithin = "Class" // all pools that back the class, even in different spaces
)

// ScopeProject is the first role of every scoped class. Its value is the claim's project.
const ScopeProject = "project"

// Class is a policy for one kind of address space. A caller that claims by class need not know the pools.
type Class struct {
	Metadata
	ProjectID ID          `json:"projectId"`
	Spec      ClassSpec   `json:"spec"`
	Status    ClassStatus `json:"status,omitzero"` // each read fills it in for its caller; not stored
}

// ClassSpec has the class fields that the caller sets. Fixed compares the immutable fields.
type ClassSpec struct {
	Provisioner         Provisioner       `json:"provisioner"`
	Family              Family            `json:"ipFamily"`
	Strategy            Strategy          `json:"strategy,omitempty"`            // "": the pool's
	MinPrefixLength     *int              `json:"minPrefixLength,omitempty"`     // allowedPrefixLengths.min: the largest block
	MaxPrefixLength     *int              `json:"maxPrefixLength,omitempty"`     // allowedPrefixLengths.max: the smallest block
	DefaultPrefixLength *int              `json:"defaultPrefixLength,omitempty"` // nil: the pool's
	ReclaimPolicy       ReclaimPolicy     `json:"reclaimPolicy"`                 // for claims that do not set one
	Visibility          Visibility        `json:"visibility"`
	IsDefault           bool              `json:"isDefault"`
	ReuseAfter          *time.Duration    `json:"reuseAfter,omitempty"`     // cool-down for released blocks; nil: the pool's
	ReuseAfterLost      *time.Duration    `json:"reuseAfterLost,omitempty"` // cool-down after the last consumer was lost; nil: DefaultReuseLost
	PoolSelection       PoolSelection     `json:"poolSelection"`
	UniqueWithin        UniqueWithin      `json:"uniqueWithin"`
	Parameters          map[string]string `json:"parameters,omitempty"`
	Description         string            `json:"description,omitempty"`

	// PoolPer lists a scoped class's roles. It is empty, or begins with ScopeProject. Each project gets its own pool for each combination of values
	// that its claims set for the other roles. The first claim with a combination makes the pool, with the length PoolPrefixLength, in a pool that
	// backs the class.
	PoolPer          []string       `json:"poolPer,omitempty"`
	PoolPrefixLength *int           `json:"poolPrefixLength,omitempty"`
	EmptyPoolTTL     *time.Duration `json:"emptyPoolTTL,omitempty"` // nil: empty scoped pools stay
}

// ClassStatus describes the pools that back a class and that one caller may use. These pools are in the class's project or in the caller's own
// project.
type ClassStatus struct {
	BackingPools int64 // pools that back the class
	ScopedPools  int64 // pools made for scopes; the class's project sees all, and another project sees only its own
	Total        string
	Available    string // exact number of free addresses in the backing pools
	LargestFree  *int   // length of the largest block that a claim can get now, within the class's and the pools' bounds; nil: none
}

// ClassRef is the class that served a claim.
type ClassRef struct {
	ID  ID  `json:"id,omitzero"`
	Ref Ref `json:"ref,omitzero"`
}

// IsZero reports whether the reference is empty.
func (c ClassRef) IsZero() bool { return c.ID.IsZero() }

// AsRef returns the reference that claims and pools store for the class.
func (c Class) AsRef() ClassRef { return ClassRef{ID: c.UID, Ref: c.Ref()} }

// Scoped reports whether the class is scoped. The claims by a scoped class get their blocks from pools made for scopes.
func (c Class) Scoped() bool { return len(c.Spec.PoolPer) > 0 }

// Bounds returns the shortest and the longest prefix length that the class allows.
func (s ClassSpec) Bounds() (lo, hi int) {
	lo, hi = 0, s.Family.Bits()
	if s.MinPrefixLength != nil {
		lo = *s.MinPrefixLength
	}
	if s.MaxPrefixLength != nil {
		hi = *s.MaxPrefixLength
	}
	if s.PoolPrefixLength != nil { // a block is never larger than its pool
		lo = max(lo, *s.PoolPrefixLength)
	}
	return lo, hi
}

// PoolScope is the scope that a scoped pool serves. The pool serves one project's claims, by one class, with the same scope values.
type PoolScope struct {
	Class     ClassRef          `json:"class"`
	ProjectID ID                `json:"projectId"`
	Project   string            `json:"project"`
	Values    map[string]string `json:"values,omitempty"` // by role, without ScopeProject
	Key       string            `json:"key"`              // the values as canonical text: role=value, sorted by role, joined by commas
}
