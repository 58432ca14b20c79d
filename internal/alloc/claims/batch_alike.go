package claims

import "github.com/carve-ipam/carve/internal/ipam"

// alike reports whether two specs surely ask for the same, whoever owns what. Selectors and scopes are not looked into: with one, specs are
// compared as they are written down.
func alike(a, b *ipam.ClaimSpec) bool {
	return a.PoolSelector == nil && b.PoolSelector == nil && len(a.Scope)+len(b.Scope) == 0 &&
		a.ClassName == b.ClassName && a.PoolRef == b.PoolRef && a.AllocationRef == b.AllocationRef && a.AllocationOf == b.AllocationOf &&
		sameLength(a.PrefixLength, b.PrefixLength) && a.Family == b.Family &&
		a.CIDR == b.CIDR && a.Address == b.Address && a.ReclaimPolicy == b.ReclaimPolicy
}

func sameLength(a, b *int) bool {
	return a == b || a != nil && b != nil && *a == *b
}
