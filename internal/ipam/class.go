package ipam

import "time"

// Provisioner names the system that carves for a class. Native (this service) is the only one.
type Provisioner string

// ProvisionerNative is this service itself.
const ProvisionerNative Provisioner = "native"

// PoolSelection is the order in which the pools behind a class are tried.
type PoolSelection string

// The orders. PoolsByName is the default.
const (
	PoolsByName        PoolSelection = "FirstFit"      // by name, so that one pool fills before the next one is used
	PoolsLeastUtilized PoolSelection = "LeastUtilized" // the pool with the smallest used share first
)

// UniqueWithin is the range within which no two claims of a class overlap.
type UniqueWithin string

// The ranges. Space is the default; every pool guarantees it.
const (
	UniqueWithinSpace UniqueWithin = "Space" // the space of their pool
	UniqueWithinClass UniqueWithin = "Class" // all pools of the class, also in different spaces
)

// ScopeProject is the first scope role of every scoped class: the claiming project.
const ScopeProject = "project"

// Class is the policy for granting one kind of address space. A caller that claims by class need not know pools.
type Class struct {
	Metadata
	ProjectID ID          `json:"projectId"`
	Spec      ClassSpec   `json:"spec"`
	Status    ClassStatus `json:"status,omitzero"` // filled in by reads for one caller; not stored
}

// ClassSpec has the class fields that the caller sets. Fixed checks those that never change.
type ClassSpec struct {
	Provisioner         Provisioner       `json:"provisioner"`
	Family              Family            `json:"ipFamily"`
	Strategy            Strategy          `json:"strategy,omitempty"`            // "": the pool's
	MinPrefixLength     *int              `json:"minPrefixLength,omitempty"`     // allowedPrefixLengths.min: the largest block
	MaxPrefixLength     *int              `json:"maxPrefixLength,omitempty"`     // allowedPrefixLengths.max: the smallest block
	DefaultPrefixLength *int              `json:"defaultPrefixLength,omitempty"` // nil: the pool's
	ReclaimPolicy       ReclaimPolicy     `json:"reclaimPolicy"`                 // of claims that do not set one
	Visibility          Visibility        `json:"visibility"`
	IsDefault           bool              `json:"isDefault"`
	ReuseAfter          *time.Duration    `json:"reuseAfter,omitempty"`     // cool-down of released blocks; nil: the pool's
	ReuseAfterLost      *time.Duration    `json:"reuseAfterLost,omitempty"` // the same after the loss of the last consumer; nil: DefaultReuseLost
	PoolSelection       PoolSelection     `json:"poolSelection"`
	UniqueWithin        UniqueWithin      `json:"uniqueWithin"`
	Parameters          map[string]string `json:"parameters,omitempty"`
	Description         string            `json:"description,omitempty"`

	// PoolPer, if set, begins with ScopeProject. Each project gets a pool of its own for each combination of values for the other roles in a claim's
	// scope. The first claim carves it with PoolPrefixLength from the class's pools.
	PoolPer          []string       `json:"poolPer,omitempty"`
	PoolPrefixLength *int           `json:"poolPrefixLength,omitempty"`
	EmptyPoolTTL     *time.Duration `json:"emptyPoolTTL,omitempty"` // nil: empty scoped pools stay
}

// ClassStatus is the state of the pools behind a class for one caller: the pools of the class's project that list it, and the caller's own.
type ClassStatus struct {
	BackingPools int64 // pools that list the class
	ScopedPools  int64 // pools carved for scopes: all for the class's own project, only its own for another
	Total        string
	Available    string // free in the backing pools, exactly
	LargestFree  *int   // the largest block that a claim can get now, within the bounds of the class and the pools; nil: none
}

// ClassRef is the class that served a claim.
type ClassRef struct {
	ID  ID  `json:"id,omitzero"`
	Ref Ref `json:"ref,omitzero"`
}

// IsZero reports whether the reference is empty.
func (c ClassRef) IsZero() bool { return c.ID.IsZero() }

// Ref returns the class's reference.
func (c Class) Ref() Ref { return Ref{Project: c.Project, Name: c.Name} }

// AsRef returns the class as claims and pools record it.
func (c Class) AsRef() ClassRef { return ClassRef{ID: c.UID, Ref: c.Ref()} }

// Scoped reports whether the class's claims draw from scope pools.
func (c Class) Scoped() bool { return len(c.Spec.PoolPer) > 0 }

// Bounds returns the prefix lengths that the class allows, both inclusive.
func (s ClassSpec) Bounds() (lo, hi int) {
	lo, hi = 0, s.Family.Bits()
	if s.MinPrefixLength != nil {
		lo = *s.MinPrefixLength
	}
	if s.MaxPrefixLength != nil {
		hi = *s.MaxPrefixLength
	}
	if s.PoolPrefixLength != nil { // no block is larger than its pool
		lo = max(lo, *s.PoolPrefixLength)
	}
	return lo, hi
}

// PoolScope is the scope that a scoped pool serves: claims of one class and project with the same scope values.
type PoolScope struct {
	Class     ClassRef          `json:"class"`
	ProjectID ID                `json:"projectId"`
	Project   string            `json:"project"`
	Values    map[string]string `json:"values,omitempty"` // by role, without ScopeProject
	Key       string            `json:"key"`              // the values as canonical text: role=value, sorted by role, joined by commas
}
