package resolve

import (
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/carve"
	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Request is one claim's request to pools: the claim's spec and its class's policy.
type Request struct {
	Spec  ipam.ClaimSpec
	Class *ipam.Class // nil for a claim by poolRef, poolSelector or allocationRef

	PoolAlone bool // the request is only for the scope's pool, without a block in the pool

	Kept ipam.ReclaimPolicy // the policy of the allocation that is bound again; empty for a new allocation
}

// BlockSpec describes the block that a Request needs from one pool.
type BlockSpec struct {
	Exact    netip.Prefix
	Bits     int
	strategy ipam.Strategy
}

// BlockSpec resolves the request for a pool, or returns the reason why the pool can never serve it. It compares the length with the class's limits
// only if the length comes from the pool. admit has already checked all other lengths.
func (a Request) BlockSpec(p ipam.Pool) (BlockSpec, error) {
	w := BlockSpec{strategy: p.Spec.Allocation.Strategy}
	if a.Class != nil && a.Class.Spec.Strategy != "" {
		w.strategy = a.Class.Spec.Strategy
	}
	if exact := a.Spec.Exact(); exact.IsValid() {
		w.Exact, w.Bits = exact, exact.Bits()
		return w, p.AdmitExact(ExactPointer(a.Spec), exact)
	}
	if a.Spec.Family != "" && a.Spec.Family != p.Family() {
		return w, ipam.Errorf(ipam.CodeFamilyMismatch, "Pool %s is %s; the request asks for %s.", p.Ref(), p.Family(), a.Spec.Family).
			At("/spec/ipFamily", "must be %s for this pool.", p.Family())
	}
	bits, ofPool := a.length(), false
	if bits == nil {
		bits, ofPool = p.Spec.Allocation.DefaultPrefixLength, true
	}
	if bits == nil {
		return w, ipam.Invalid("/spec/prefixLength", "is required: %s.", a.noDefault(p))
	}
	w.Bits = *bits
	if err := p.Admit("/spec/prefixLength", w.Bits); err != nil || !ofPool {
		return w, err
	}
	return w, a.admitLength("/spec/prefixLength", w.Bits)
}

// length returns the requested prefix length. The length comes from the claim or its class. If the pool determines the length, length returns nil.
func (a Request) length() *int {
	if a.Spec.PrefixLength == nil && a.Class != nil {
		return a.Class.Spec.DefaultPrefixLength
	}
	return a.Spec.PrefixLength
}

func (a Request) noDefault(p ipam.Pool) string {
	if a.Class == nil {
		return "pool " + p.Ref().String() + " has no defaultPrefixLength"
	}
	return "class " + a.Class.Ref().String() + " and at least one pool behind it have no defaultPrefixLength"
}

// admit checks a claim against its class's policy. A claim may be stricter than the policy, but not less strict.
func (a Request) admit() error {
	if a.Class == nil {
		return nil
	}
	class, exact := a.Class, a.Spec.Exact()
	asked, pointer := a.Spec.Family, "/spec/ipFamily"
	if exact.IsValid() {
		asked, pointer = ipam.FamilyOf(exact.Addr()), ExactPointer(a.Spec)
	}
	if asked != "" && asked != class.Spec.Family {
		e := ipam.Errorf(ipam.CodeFamilyMismatch, "Class %s is %s; the request asks for %s.", class.Ref(), class.Spec.Family, asked).
			At(pointer, "must be %s for this class.", class.Spec.Family)
		e.Figures.Class = class.Ref().String()
		return e
	}
	if exact.IsValid() {
		return a.admitLength(pointer, exact.Bits())
	}
	if bits := a.length(); bits != nil {
		return a.admitLength("/spec/prefixLength", *bits)
	}
	return nil
}

// admitLength checks a prefix length against the class's limits.
func (a Request) admitLength(pointer string, bits int) error {
	if a.Class == nil {
		return nil
	}
	lo, hi := a.Class.Spec.Bounds()
	if bits >= lo && bits <= hi {
		return nil
	}
	return a.outOfBounds(pointer, bits, lo, hi)
}

func (a Request) outOfBounds(pointer string, bits, lo, hi int) error {
	e := ipam.Errorf(ipam.CodePrefixLengthRejected, "Class %s gives out prefix lengths /%d to /%d; the request asks for /%d.", a.Class.Ref(), lo, hi, bits)
	e.Figures.Class, e.Figures.WantedPrefixLength = a.Class.Ref().String(), &bits
	e.Figures.AllowedMin, e.Figures.AllowedMax = &lo, &hi
	return e.At(pointer, "must be %d to %d in this class.", lo, hi)
}

// MayDraw reports whether a pool may serve a claim in the project. There are three cases:
//   - A pool that was carved for a scope serves only the claims in that scope.
//   - A claim with a class may use the pools that list the class, in the class's project and in the claim's project.
//   - A claim without a class may use the project's own pools, and pools that are shared and granted.
func (a Request) MayDraw(key storage.ProjectKey, p ipam.Pool, granted bool) bool {
	switch {
	case p.Scope != nil:
		return a.Class != nil && p.Scope.Class.ID == a.Class.UID && p.Scope.ProjectID == key.ID && p.Scope.Key == a.scopeKey()
	case a.Class == nil:
		return MayClaim(key, p, granted)
	default:
		return !a.Class.Scoped() && p.Backs(a.Class.UID) && (p.ProjectID == key.ID || p.ProjectID == a.Class.ProjectID)
	}
}

func (a Request) scopeKey() string {
	_, key := a.Class.ScopeKey(a.Spec.Scope)
	return key
}

// ClassRef returns the reference to the class, as the claim records it.
func (a Request) ClassRef() ipam.ClassRef {
	if a.Class == nil {
		return ipam.ClassRef{}
	}
	return a.Class.AsRef()
}

// Bound returns a claim with its block in a pool. It also sets the reclaim policy and the cool-down from the class and the pool. Later changes to
// class and pool do not change these values.
func (a Request) Bound(c ipam.Claim, block netip.Prefix, pool ipam.Pool) ipam.Claim {
	c.Block, c.Pool, c.PoolID, c.PoolProjectID = block, pool.Ref(), pool.UID, pool.ProjectID
	c.Region = pool.Place() // a claim is in the region of its block
	c.Class, c.ReclaimPolicy, c.ReuseAfter = a.ClassRef(), a.ReclaimPolicy(), a.ReuseAfter(pool)
	return c
}

// ReclaimPolicy returns the policy that applies when the claim is released.
func (a Request) ReclaimPolicy() ipam.ReclaimPolicy {
	switch {
	case a.Spec.ReclaimPolicy != "":
		return a.Spec.ReclaimPolicy
	case a.Kept != "":
		return a.Kept
	case a.Class != nil:
		return a.Class.Spec.ReclaimPolicy
	default:
		return ipam.ReclaimDelete
	}
}

// ReuseAfter returns the block's cool-down after its release.
func (a Request) ReuseAfter(p ipam.Pool) time.Duration {
	switch {
	case a.Class != nil && a.Class.Spec.ReuseAfter != nil:
		return *a.Class.Spec.ReuseAfter
	case p.Spec.ReuseAfter != nil:
		return *p.Spec.ReuseAfter
	default:
		return 0
	}
}

// Request returns the request to a pool in the form that package freespace needs.
func (w BlockSpec) Request(p ipam.Pool, random ipam.ID, attempt int) freespace.BlockRequest {
	return carve.RequestFor(w.Exact, w.Bits, w.strategy, random, p.Block, attempt)
}

// ExactPointer returns the pointer to the field with the exact CIDR.
func ExactPointer(spec ipam.ClaimSpec) string {
	if spec.Address.IsValid() {
		return "/spec/address"
	}
	return "/spec/cidr"
}
