package alloc

import (
	"maps"
	"reflect"

	"github.com/carve-ipam/carve/internal/ipam"
)

// differing names the parts of a wanted claim that an existing one does not have. Labels and annotations count; what the
// server decided does not.
func differing(have, want ipam.Claim) []string {
	var diff []string
	add := func(pointer string, same bool) {
		if !same {
			diff = append(diff, pointer)
		}
	}
	a, b := have.Spec, want.Spec
	add("/metadata/labels", maps.Equal(have.Labels, want.Labels))
	add("/metadata/annotations", maps.Equal(have.Annotations, want.Annotations))
	add("/spec/poolRef", a.PoolRef == b.PoolRef)
	add("/spec/poolSelector", reflect.DeepEqual(a.PoolSelector, b.PoolSelector))
	add("/spec/allocationRef", a.AllocationRef == b.AllocationRef)
	add("/spec/prefixLength", reflect.DeepEqual(a.PrefixLength, b.PrefixLength))
	add("/spec/ipFamily", a.Family == b.Family)
	add("/spec/cidr", a.CIDR == b.CIDR)
	add("/spec/address", a.Address == b.Address)
	add("/spec/reclaimPolicy", a.ReclaimPolicy == b.ReclaimPolicy)
	add("/spec/ownerRef", reflect.DeepEqual(a.OwnerRef, b.OwnerRef))
	return diff
}
