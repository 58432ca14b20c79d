package alloc

import (
	"maps"
	"reflect"

	"github.com/carve-ipam/carve/internal/ipam"
)

// differing names the parts of a wanted claim's spec that an existing one does not have. Labels and annotations do not
// count: others may have changed them since.
func differing(have, want ipam.Claim) []string {
	var diff []string
	add := func(pointer string, same bool) {
		if !same {
			diff = append(diff, pointer)
		}
	}
	a, b := have.Spec, want.Spec
	add("/spec/className", a.ClassName == b.ClassName)
	add("/spec/scope", maps.Equal(a.Scope, b.Scope))
	add("/spec/poolRef", a.PoolRef == b.PoolRef)
	add("/spec/poolSelector", reflect.DeepEqual(a.PoolSelector, b.PoolSelector))
	add("/spec/allocationRef", a.AllocationRef == b.AllocationRef)
	add("/spec/prefixLength", reflect.DeepEqual(a.PrefixLength, b.PrefixLength))
	add("/spec/ipFamily", a.Family == b.Family)
	add("/spec/cidr", a.CIDR == b.CIDR)
	add("/spec/address", a.Address == b.Address)
	add("/spec/reclaimPolicy", sameReclaim(have, b.ReclaimPolicy))
	add("/spec/ownerRef", reflect.DeepEqual(a.OwnerRef, b.OwnerRef))
	return diff
}

// sameReclaim reports whether a wanted policy is the one that an existing claim has. What came of leaving it out is the same as saying it; and
// claims of before there were classes say it always.
func sameReclaim(have ipam.Claim, want ipam.ReclaimPolicy) bool {
	switch said := have.Spec.ReclaimPolicy; said {
	case want:
		return true
	case "":
		return want == have.ReclaimPolicy
	default:
		return want == "" && said == ipam.ReclaimDelete && have.Class.IsZero()
	}
}
