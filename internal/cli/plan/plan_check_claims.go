package plan

import (
	"strconv"

	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/ipam"
)

// pairs checks labels and annotations. It refuses the label and the annotation that are reserved for apply.
func (f *planFaults) pairs(at string, m planMeta) {
	f.refused(at, ipam.CheckLabels("/metadata/labels", m.Labels))
	f.refused(at, ipam.CheckAnnotations("/metadata/annotations", m.Annotations))
	if _, given := m.Labels[labelOfPlan]; given {
		f.add(at+".labels."+labelOfPlan, "is reserved for apply: remove it, and name the plan with 'plan: NAME'")
	}
	if _, given := m.Annotations[annotationFields]; given {
		f.add(at+".annotations."+annotationFields, "is reserved for apply: remove it")
	}
}

// poolClaims checks the claims that the plan has below pools.
func (f *planFaults) poolClaims(at string, pools []planPool, seen map[string]bool) {
	for i, p := range pools {
		here := at + "[" + strconv.Itoa(i) + "]"
		f.claims(here+".claims", p.Claims, p.Name, seen)
		f.poolClaims(here+".pools", p.Pools, seen)
	}
}

func (f *planFaults) claims(at string, claims []planClaim, pool string, seen map[string]bool) {
	for i, c := range claims {
		f.claim(at+"["+strconv.Itoa(i)+"]", c, pool, seen)
	}
}

// claim checks a claim by itself. pool is the pool that contains it in the plan; "" is none.
func (f *planFaults) claim(at string, c planClaim, pool string, seen map[string]bool) {
	f.name(at, c.Name, seen)
	f.pairs(at, c.planMeta)
	before := len(*f)
	spec := f.claimSpec(at, c)
	sources := 0
	for _, given := range []bool{pool != "", c.Pool != "", c.PoolRef != nil, c.ClassName != "", c.AllocationRef != nil, c.PoolSelector != nil} {
		if given {
			sources++
		}
	}
	switch {
	case pool != "" && sources > 1:
		f.add(at, "is from pool %s, which contains it in the plan: remove its other pool, class or allocation", pool)
	case sources > 1:
		f.add(at, "must have at most one of pool, poolRef, className, allocationRef")
	case c.Pool != "":
		if err := session.CheckRef("pool", c.Pool); err != nil {
			f.add(at+".pool", "%v", err)
		}
	}
	if len(*f) == before { // report a fault only once
		f.refused(at, spec.CheckNew())
	}
}

// claimSpec returns a claim's spec for the server's checks. It omits the pool, the selector and the allocation.
func (f *planFaults) claimSpec(at string, c planClaim) ipam.ClaimSpec {
	spec := ipam.ClaimSpec{
		ClassName: c.ClassName, Scope: c.Scope, Family: ipam.Family(c.IPFamily), CIDR: f.blockOf(at, "cidr", c.CIDR), Address: f.addressOf(at, "address", c.Address),
		ReclaimPolicy: ipam.ReclaimPolicy(c.ReclaimPolicy), MaxConsumers: c.MaxConsumers, WhenUnused: ipam.WhenUnused(c.WhenUnused),
	}
	if c.PrefixLength != 0 {
		spec.PrefixLength = &c.PrefixLength
	}
	return spec
}
