package resolve

import (
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/carve"
	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Ask is what one claim asks of pools: its spec, under the policy of the class that serves it.
type Ask struct {
	Spec  ipam.ClaimSpec
	Class *ipam.Class // nil: by poolRef, poolSelector or allocationRef

	PoolAlone bool // the pool of the scope is asked for, and no block of it

	Kept ipam.ReclaimPolicy // of the allocation that is bound again; "": a new one
}

// Want is what an ask comes to in one pool.
type Want struct {
	Exact    netip.Prefix
	Bits     int
	strategy ipam.Strategy
}

// Wanted resolves what is asked of a pool, or says why the pool can never serve it. Whether the class allows it is admit's to say, but
// for a length that only the pool knows.
func (a Ask) Wanted(p ipam.Pool) (Want, error) {
	w := Want{strategy: p.Spec.Allocation.Strategy}
	if a.Class != nil && a.Class.Spec.Strategy != "" {
		w.strategy = a.Class.Spec.Strategy
	}
	if exact := a.Spec.Exact(); exact.IsValid() {
		w.Exact, w.Bits = exact, exact.Bits()
		return w, p.AdmitExact(ExactPointer(a.Spec), exact)
	}
	if a.Spec.Family != "" && a.Spec.Family != p.Family() {
		return w, ipam.Errorf(ipam.CodeFamilyMismatch, "Pool %s is %s; %s was asked for.", p.Ref(), p.Family(), a.Spec.Family).
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

// length is the prefix length that is asked for, by the claim or by its class; nil: the pool has to say.
func (a Ask) length() *int {
	if a.Spec.PrefixLength == nil && a.Class != nil {
		return a.Class.Spec.DefaultPrefixLength
	}
	return a.Spec.PrefixLength
}

func (a Ask) noDefault(p ipam.Pool) string {
	if a.Class == nil {
		return "pool " + p.Ref().String() + " has no defaultPrefixLength"
	}
	return "class " + a.Class.Ref().String() + " has no defaultPrefixLength, and not every pool behind it has"
}

// admit checks a claim against the policy of its class: the claim may narrow it and never widen it.
func (a Ask) admit() error {
	if a.Class == nil {
		return nil
	}
	class, exact := a.Class, a.Spec.Exact()
	asked, pointer := a.Spec.Family, "/spec/ipFamily"
	if exact.IsValid() {
		asked, pointer = ipam.FamilyOf(exact.Addr()), ExactPointer(a.Spec)
	}
	if asked != "" && asked != class.Spec.Family {
		e := ipam.Errorf(ipam.CodeFamilyMismatch, "Class %s is %s; %s was asked for.", class.Ref(), class.Spec.Family, asked).
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

// admitLength checks a length against the bounds of the class.
func (a Ask) admitLength(pointer string, bits int) error {
	if a.Class == nil {
		return nil
	}
	lo, hi := a.Class.Spec.Bounds()
	if bits >= lo && bits <= hi {
		return nil
	}
	return a.outOfBounds(pointer, bits, lo, hi)
}

func (a Ask) outOfBounds(pointer string, bits, lo, hi int) error {
	e := ipam.Errorf(ipam.CodePrefixLengthRejected, "Class %s hands out lengths /%d to /%d only; /%d was asked for.", a.Class.Ref(), lo, hi, bits)
	e.Figures.Class, e.Figures.WantedPrefixLength = a.Class.Ref().String(), &bits
	e.Figures.AllowedMin, e.Figures.AllowedMax = &lo, &hi
	return e.At(pointer, "must be %d to %d in this class.", lo, hi)
}

// MayDraw reports whether a project's claim may be served from a pool: by a class from the pools that list it, of the class's project
// and of the claim's own, or from the pool of the claim's scope; otherwise from its own pools and those shared with it. A pool that was
// carved for a scope serves nobody else.
func (a Ask) MayDraw(key storage.ProjectKey, p ipam.Pool, granted bool) bool {
	switch {
	case p.Scope != nil:
		return a.Class != nil && p.Scope.Class.ID == a.Class.UID && p.Scope.ProjectID == key.ID && p.Scope.Key == a.scopeKey()
	case a.Class == nil:
		return MayClaim(key, p, granted)
	default:
		return !a.Class.Scoped() && p.Backs(a.Class.UID) && (p.ProjectID == key.ID || p.ProjectID == a.Class.ProjectID)
	}
}

// scopeKey is the claim's place among the scopes of its class.
func (a Ask) scopeKey() string {
	_, key := a.Class.ScopeKey(a.Spec.Scope)
	return key
}

// ClassRef is the class as the claim records it.
func (a Ask) ClassRef() ipam.ClassRef {
	if a.Class == nil {
		return ipam.ClassRef{}
	}
	return a.Class.AsRef()
}

// Bound is a claim with the block that it gets from a pool, and what its class and the pool decide about its end. Later changes of
// their policies do not touch it.
func (a Ask) Bound(c ipam.Claim, block netip.Prefix, pool ipam.Pool) ipam.Claim {
	c.Block, c.Pool, c.PoolID, c.PoolProjectID = block, pool.Ref(), pool.UID, pool.ProjectID
	c.Region = pool.Place() // a claim lives where its block does
	c.Class, c.ReclaimPolicy, c.ReuseAfter = a.ClassRef(), a.ReclaimPolicy(), a.ReuseAfter(pool)
	return c
}

// ReclaimPolicy is what becomes of the block when the claim is released.
func (a Ask) ReclaimPolicy() ipam.ReclaimPolicy {
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

// ReuseAfter is how long the block cools down when it is released.
func (a Ask) ReuseAfter(p ipam.Pool) time.Duration {
	switch {
	case a.Class != nil && a.Class.Spec.ReuseAfter != nil:
		return *a.Class.Spec.ReuseAfter
	case p.Spec.ReuseAfter != nil:
		return *p.Spec.ReuseAfter
	default:
		return 0
	}
}

// Wish is what is wanted of a pool, for the arithmetic.
func (w Want) Wish(p ipam.Pool, random ipam.ID, attempt int) space.Wish {
	return carve.WishFor(w.Exact, w.Bits, w.strategy, random, p.Block, attempt)
}

// ExactPointer is the field that asks for a very block.
func ExactPointer(spec ipam.ClaimSpec) string {
	if spec.Address.IsValid() {
		return "/spec/address"
	}
	return "/spec/cidr"
}
