package ipam

import (
	"slices"
	"strconv"
)

// CheckNew validates a new claim's spec. In addition to Check, it refuses the role "project" in the scope. Check allows this role, because older
// servers ignored it and existing claims may have it.
func (s ClaimSpec) CheckNew() error {
	if _, given := s.Scope[ScopeProject]; given {
		return Invalid("/spec/scope/"+ScopeProject, "cannot be set: the server sets it to the project of the claim. Leave it out; to claim for another project, claim in that project.")
	}
	if len(s.Consumers) > s.MostConsumers() {
		return Invalid("/spec/consumers", "has %d entries; maxConsumers allows %d.", len(s.Consumers), s.MostConsumers())
	}
	for i, c := range s.Consumers {
		at := "/spec/consumers/" + strconv.Itoa(i)
		if err := c.Check(at, at+"/uid"); err != nil {
			return err
		}
		if slices.ContainsFunc(s.Consumers[:i], func(d NewConsumer) bool { return d.Ref == c.Ref }) {
			return Invalid(at, "repeats an earlier entry; list it once.")
		}
	}
	return s.Check()
}

// Check validates a claim's spec, as far as that is possible without the pools.
func (s ClaimSpec) Check() error {
	if s.MaxConsumers < 0 || s.MaxConsumers > MostConsumers {
		return Invalid("/spec/maxConsumers", "must be 1 to %d.", MostConsumers)
	}
	if s.WhenUnused != "" && s.WhenUnused != UnusedKeep && s.WhenUnused != UnusedDelete {
		return Invalid("/spec/whenUnused", "must be Keep or Delete.")
	}
	ways := 0
	for _, set := range []bool{s.ClassName != "", s.PoolRef != Ref{}, s.PoolSelector != nil, s.AllocationRef != ""} {
		if set {
			ways++
		}
	}
	if ways > 1 {
		return Invalid("/spec", "must have at most one of className, poolRef, poolSelector and allocationRef; it has %d.", ways)
	}
	if s.ClassName != "" && !ValidName(s.ClassName) {
		return Invalid("/spec/className", "must be a DNS label: 1 to 63 of a-z, 0-9 and -, beginning and ending with a letter or digit.")
	}
	if err := checkScope("/spec/scope", s.Scope); err != nil {
		return err
	}
	if s.PoolSelector != nil {
		if err := s.PoolSelector.Check("/spec/poolSelector"); err != nil {
			return err
		}
	}
	if s.CIDR.IsValid() && s.Address.IsValid() {
		return Invalid("/spec", "must not have both cidr and address.")
	}
	if err := s.checkLength(); err != nil {
		return err
	}
	switch s.ReclaimPolicy {
	case "", ReclaimDelete, ReclaimRetain:
	default:
		return Invalid("/spec/reclaimPolicy", "must be Delete or Retain; leave it out to use the reclaimPolicy of the class.")
	}
	if s.AllocationRef != "" && (s.PrefixLength != nil || s.Family != "" || s.CIDR.IsValid() || s.Address.IsValid()) {
		return Invalid("/spec", "must not have prefixLength, ipFamily, cidr or address with allocationRef: the claim gets the retained block unchanged.")
	}
	return s.OwnerRef.check()
}

func (s ClaimSpec) checkLength() error {
	switch s.Family {
	case "", IPv4, IPv6:
	default:
		return Invalid("/spec/ipFamily", "must be IPv4 or IPv6.")
	}
	if n := s.PrefixLength; n != nil {
		if *n < 0 || *n > 128 {
			return Invalid("/spec/prefixLength", "must be 0 to 128.")
		}
		if s.Family == IPv4 && *n > 32 {
			return Invalid("/spec/prefixLength", "must be 0 to 32 for IPv4.")
		}
		if s.Family == "" && s.ByClass() && s.ClassName == "" && *n > s.WantedFamily().Bits() {
			return Invalid("/spec/prefixLength", "must be 0 to 32, because a claim without ipFamily gets IPv4; for IPv6, set ipFamily.")
		}
	}
	exact := s.Exact()
	if !exact.IsValid() {
		return nil
	}
	pointer := "/spec/cidr"
	if s.Address.IsValid() {
		pointer = "/spec/address"
	}
	if s.PrefixLength != nil && *s.PrefixLength != exact.Bits() {
		return Invalid("/spec/prefixLength", "is %d, but %s is a /%d; leave out prefixLength.", *s.PrefixLength, pointer[len("/spec/"):], exact.Bits())
	}
	if s.Family != "" && s.Family != FamilyOf(exact.Addr()) {
		return Errorf(CodeFamilyMismatch, "ipFamily is %s, but %s is %s.", s.Family, exact, FamilyOf(exact.Addr())).
			At("/spec/ipFamily", "must be %s or left out.", FamilyOf(exact.Addr()))
	}
	return nil
}

func (o *OwnerRef) check() error {
	if o == nil {
		return nil
	}
	for _, f := range []struct {
		name, value string
		limit       int
	}{{"kind", o.Kind, 128}, {"name", o.Name, 253}, {"uid", o.UID, 128}} {
		if err := CheckText("/spec/ownerRef/"+f.name, f.value, f.limit, false); err != nil {
			return err
		}
	}
	return nil
}
