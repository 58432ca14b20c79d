package ipam

import "time"

// Provisioner names who carves for a class. Native (this service) is the only one there is.
type Provisioner string

// ProvisionerNative is this service itself.
const ProvisionerNative Provisioner = "native"

// PoolSelection says in which order the pools behind a class are tried.
type PoolSelection string

// The orders. PoolsByName is the default.
const (
	PoolsByName        PoolSelection = "FirstFit"      // by name, so that one pool fills before the next is begun
	PoolsLeastUtilized PoolSelection = "LeastUtilized" // the one with the smallest share held first
)

// UniqueWithin says within what no two claims of a class overlap.
type UniqueWithin string

// Space is the default: what every pool promises.
const (
	UniqueWithinSpace UniqueWithin = "Space" // that of their pool
	UniqueWithinClass UniqueWithin = "Class" // whichever pools they are from: those of different spaces do not overlap
)

// ScopeProject is the scope role that every scoped class begins with: the claiming project itself.
const ScopeProject = "project"

// Class is the policy for handing out one kind of address space. Who asks by class need not know pools.
type Class struct {
	Metadata
	ProjectID ID          `json:"projectId"`
	Spec      ClassSpec   `json:"spec"`
	Status    ClassStatus `json:"status,omitzero"` // filled in by reads for one caller; not stored
}

// ClassSpec is what the caller writes of a class. What never changes of it, Fixed says.
type ClassSpec struct {
	Provisioner         Provisioner       `json:"provisioner"`
	Family              Family            `json:"ipFamily"`
	Strategy            Strategy          `json:"strategy,omitempty"`            // "": that of the pool
	MinPrefixLength     *int              `json:"minPrefixLength,omitempty"`     // allowedPrefixLengths.min: the largest block
	MaxPrefixLength     *int              `json:"maxPrefixLength,omitempty"`     // allowedPrefixLengths.max: the smallest block
	DefaultPrefixLength *int              `json:"defaultPrefixLength,omitempty"` // nil: that of the pool
	ReclaimPolicy       ReclaimPolicy     `json:"reclaimPolicy"`                 // of claims that say nothing
	Visibility          Visibility        `json:"visibility"`
	IsDefault           bool              `json:"isDefault"`
	ReuseAfter          *time.Duration    `json:"reuseAfter,omitempty"`     // cool-down of released blocks; nil: that of the pool
	ReuseAfterLost      *time.Duration    `json:"reuseAfterLost,omitempty"` // and of those whose last consumer was lost; nil: DefaultReuseLost
	PoolSelection       PoolSelection     `json:"poolSelection"`
	UniqueWithin        UniqueWithin      `json:"uniqueWithin"`
	Parameters          map[string]string `json:"parameters,omitempty"`
	Description         string            `json:"description,omitempty"`

	// PoolPer, when set, begins with ScopeProject: each project, and within it each combination of the other roles' values in
	// a claim's scope, draws from a pool of its own, which the first claim carves with PoolPrefixLength from the class's pools.
	PoolPer          []string       `json:"poolPer,omitempty"`
	PoolPrefixLength *int           `json:"poolPrefixLength,omitempty"`
	EmptyPoolTTL     *time.Duration `json:"emptyPoolTTL,omitempty"` // nil: empty scoped pools stay
}

// ClassStatus is what stands behind a class for one caller: the pools of the class's project that list it, and the caller's own.
type ClassStatus struct {
	BackingPools int64 // pools that list the class
	ScopedPools  int64 // pools carved for scopes: all of them for the class's own project, its own for another
	Total        string
	Available    string // free in the backing pools, exactly
	LargestFree  *int   // the largest block that a claim can have now, within the class's and the pools' bounds; nil: none
}

// ClassRef is the class that a claim was served by.
type ClassRef struct {
	ID  ID  `json:"id,omitzero"`
	Ref Ref `json:"ref,omitzero"`
}

// IsZero reports that no class is meant.
func (c ClassRef) IsZero() bool { return c.ID.IsZero() }

// Ref of the class.
func (c Class) Ref() Ref { return Ref{Project: c.Project, Name: c.Name} }

// AsRef is the class as claims and pools record it.
func (c Class) AsRef() ClassRef { return ClassRef{ID: c.UID, Ref: c.Ref()} }

// Scoped reports whether claims of the class draw from pools of their own scope.
func (c Class) Scoped() bool { return len(c.Spec.PoolPer) > 0 }

// Bounds are the prefix lengths that the class allows, both inclusive.
func (s ClassSpec) Bounds() (lo, hi int) {
	lo, hi = 0, s.Family.Bits()
	if s.MinPrefixLength != nil {
		lo = *s.MinPrefixLength
	}
	if s.MaxPrefixLength != nil {
		hi = *s.MaxPrefixLength
	}
	if s.PoolPrefixLength != nil { // nothing larger than its pool
		lo = max(lo, *s.PoolPrefixLength)
	}
	return lo, hi
}

// PoolScope says whom a scoped pool serves: claims of one class, of one project, with one combination of scope values.
type PoolScope struct {
	Class     ClassRef          `json:"class"`
	ProjectID ID                `json:"projectId"`
	Project   string            `json:"project"`
	Values    map[string]string `json:"values,omitempty"` // by role, without ScopeProject
	Key       string            `json:"key"`              // the values as canonical text: role=value, sorted by role, joined by commas
}
