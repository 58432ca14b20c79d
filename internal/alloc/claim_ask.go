package alloc

import (
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/ipam"
)

// ask is what one claim asks of pools: its spec, under the policy of the class that serves it.
type ask struct {
	spec  ipam.ClaimSpec
	class *ipam.Class // nil: by poolRef, poolSelector or allocationRef

	kept ipam.ReclaimPolicy // of the allocation that is bound again; "": a new one
}

// want is what an ask comes to in one pool.
type want struct {
	exact    netip.Prefix
	bits     int
	strategy ipam.Strategy
}

// wanted resolves what is asked of a pool, or says why the pool can never serve it. Whether the class allows it is admit's to say, but
// for a length that only the pool knows.
func (a ask) wanted(p ipam.Pool) (want, error) {
	w := want{strategy: p.Spec.Allocation.Strategy}
	if a.class != nil && a.class.Spec.Strategy != "" {
		w.strategy = a.class.Spec.Strategy
	}
	if exact := a.spec.Exact(); exact.IsValid() {
		w.exact, w.bits = exact, exact.Bits()
		return w, p.AdmitExact(exactPointer(a.spec), exact)
	}
	if a.spec.Family != "" && a.spec.Family != p.Family() {
		return w, ipam.Errorf(ipam.CodeFamilyMismatch, "Pool %s is %s; %s was asked for.", p.Ref(), p.Family(), a.spec.Family).
			At("/spec/ipFamily", "must be %s for this pool.", p.Family())
	}
	bits, ofPool := a.length(), false
	if bits == nil {
		bits, ofPool = p.Spec.Allocation.DefaultPrefixLength, true
	}
	if bits == nil {
		return w, ipam.Invalid("/spec/prefixLength", "is required: %s.", a.noDefault(p))
	}
	w.bits = *bits
	if err := p.Admit("/spec/prefixLength", w.bits); err != nil || !ofPool {
		return w, err
	}
	return w, a.admitLength("/spec/prefixLength", w.bits)
}

// length is the prefix length that is asked for, by the claim or by its class; nil: the pool has to say.
func (a ask) length() *int {
	if a.spec.PrefixLength == nil && a.class != nil {
		return a.class.Spec.DefaultPrefixLength
	}
	return a.spec.PrefixLength
}

func (a ask) noDefault(p ipam.Pool) string {
	if a.class == nil {
		return "pool " + p.Ref().String() + " has no defaultPrefixLength"
	}
	return "class " + a.class.Ref().String() + " has no defaultPrefixLength, and not every pool behind it has"
}

// admit checks a claim against the policy of its class: the claim may narrow it and never widen it.
func (a ask) admit() error {
	if a.class == nil {
		return nil
	}
	class, exact := a.class, a.spec.Exact()
	asked, pointer := a.spec.Family, "/spec/ipFamily"
	if exact.IsValid() {
		asked, pointer = ipam.FamilyOf(exact.Addr()), exactPointer(a.spec)
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
func (a ask) admitLength(pointer string, bits int) error {
	if a.class == nil {
		return nil
	}
	lo, hi := a.class.Spec.Bounds()
	if bits >= lo && bits <= hi {
		return nil
	}
	e := ipam.Errorf(ipam.CodePrefixLengthRejected, "Class %s hands out lengths /%d to /%d only; /%d was asked for.", a.class.Ref(), lo, hi, bits)
	e.Figures.Class, e.Figures.WantedPrefixLength = a.class.Ref().String(), &bits
	e.Figures.AllowedMin, e.Figures.AllowedMax = &lo, &hi
	return e.At(pointer, "must be %d to %d in this class.", lo, hi)
}

// mayDraw reports whether a project's claim may be served from a pool: by a class from the pools that list it, of the class's project
// and of the claim's own, or from the pool of the claim's scope; otherwise from its own pools and those shared with it. A pool that was
// carved for a scope serves nobody else.
func (a ask) mayDraw(key ProjectKey, p ipam.Pool, granted bool) bool {
	switch {
	case p.Scope != nil:
		return a.class != nil && p.Scope.Class.ID == a.class.UID && p.Scope.ProjectID == key.ID && p.Scope.Key == a.scopeKey()
	case a.class == nil:
		return mayClaim(key, p, granted)
	default:
		return !a.class.Scoped() && p.Backs(a.class.UID) && (p.ProjectID == key.ID || p.ProjectID == a.class.ProjectID)
	}
}

// scopeKey is the claim's place among the scopes of its class.
func (a ask) scopeKey() string {
	_, key := a.class.ScopeKey(a.spec.Scope)
	return key
}

// classRef is the class as the claim records it.
func (a ask) classRef() ipam.ClassRef {
	if a.class == nil {
		return ipam.ClassRef{}
	}
	return a.class.AsRef()
}

// bound is a claim with the block that it gets from a pool, and what its class and the pool decide about its end. Later changes of
// their policies do not touch it.
func (a ask) bound(c ipam.Claim, block netip.Prefix, pool ipam.Pool) ipam.Claim {
	c.Block, c.Pool, c.PoolID, c.PoolProjectID = block, pool.Ref(), pool.UID, pool.ProjectID
	c.Region = pool.Place() // a claim lives where its block does
	c.Class, c.ReclaimPolicy, c.ReuseAfter = a.classRef(), a.reclaimPolicy(), a.reuseAfter(pool)
	return c
}

func (a ask) reclaimPolicy() ipam.ReclaimPolicy {
	switch {
	case a.spec.ReclaimPolicy != "":
		return a.spec.ReclaimPolicy
	case a.kept != "":
		return a.kept
	case a.class != nil:
		return a.class.Spec.ReclaimPolicy
	default:
		return ipam.ReclaimDelete
	}
}

func (a ask) reuseAfter(p ipam.Pool) time.Duration {
	switch {
	case a.class != nil && a.class.Spec.ReuseAfter != nil:
		return *a.class.Spec.ReuseAfter
	case p.Spec.ReuseAfter != nil:
		return *p.Spec.ReuseAfter
	default:
		return 0
	}
}

// wish is what is wanted of a pool, for the arithmetic.
func (w want) wish(p ipam.Pool, random ipam.ID, attempt int) space.Wish {
	return wishFor(w.exact, w.bits, w.strategy, random, p.Block, attempt)
}

// exactPointer is the field that asks for a very block.
func exactPointer(spec ipam.ClaimSpec) string {
	if spec.Address.IsValid() {
		return "/spec/address"
	}
	return "/spec/cidr"
}
