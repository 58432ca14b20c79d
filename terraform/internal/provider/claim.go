package provider

import "net/netip"

func claim() kind {
	return kind{
		name: "claim", about: "A claim asks for one block, and holds it until it is destroyed. `cidr` and `address` are known after apply.",
		path: "/v1/projects/{project}/claims/{name}", filters: claimFilters(), marked: true, guarded: true, patched: true, explained: true,
		fields: append(append([]field{projectField, nameField("claim")}, claimSpec()...),
			uidField,
			field{name: "phase", from: "/status/phase", computed: true, dataOnly: true, about: "Its phase."},
			field{name: "consumers", form: number, from: "/status/consumers", computed: true, dataOnly: true, about: "How many consumers use it."},
		),
		invalid: claimInvalid, incoherent: claimIncoherent,
	}
}

// claimSpec returns the attributes of a claim's spec.
func claimSpec() []field {
	return []field{
		{
			name: "class", of: "classes", at: "/spec/className", from: "/status/className", replace: true, check: isName,
			about: "Name of the class to take it by, of the project or shared by the platform. By default the default class, where there is no `pool` and no `allocation`.",
		},
		{
			name: "pool", of: "pools", at: "/spec/poolRef", from: "/status/poolRef", ref: true, replace: true, check: isRef,
			about: "The pool to take it from, `name` or `project/name`. Prefer a class.",
		},
		{name: "allocation", at: "/spec/allocationRef/name", replace: true, about: "The UID of a retained allocation to bind again."},
		{name: "scope", form: textMap, replace: true, about: "Values of the roles that a class with `pool_per` asks for."},
		{name: "prefix_length", form: number, derive: length, redundant: isGiven("cidr", "address"), replace: true, check: between(0, 128), about: "Length of the block."},
		{name: "ip_family", derive: family, replace: true, oneOf: []string{"IPv4", "IPv6"}, at: "/spec/ipFamily", about: "Only classes and pools of this family."},
		{name: "cidr", from: "/status/allocatedCIDR", redundant: isGiven("address"), replace: true, check: isCIDR, same: sameCIDR, about: "The block. Given, it is this very block."},
		{name: "address", from: "/status/address", replace: true, check: isAddress, same: sameAddress, about: "The address, of a block of one. Given, it is this very address."},
		{name: "reclaim_policy", from: "/status/reclaimPolicy", oneOf: []string{"Delete", "Retain"}, about: "What becomes of the block when the claim is destroyed."},
		{name: "owner_ref", form: object, replace: true, about: "Free text that identifies what it is for.", fields: []field{
			{name: "kind", about: "Its kind."}, {name: "name", about: "Its name."}, {name: "uid", about: "Its UID."},
		}},
		{name: "max_consumers", form: number, replace: true, check: between(1, 256), about: "How many consumers can be attached at once; 1 by default."},
		{name: "when_unused", replace: true, oneOf: []string{"Keep", "Delete"}, about: "What becomes of it when its last consumer is detached; `Keep` by default."},
	}
}

// claimInvalid returns the attributes that contradict each other.
func claimInvalid(v values) []fault {
	found := append(lengthOf(v, "cidr"), lengthOf(v, "address")...)
	cidr, err := netip.ParsePrefix(v.text("cidr"))
	address, err2 := netip.ParseAddr(v.text("address"))
	if err == nil && err2 == nil && (!cidr.IsSingleIP() || cidr.Addr() != address) {
		found = append(found, fault{"address", "address is not the one address of cidr: give one of the two."})
	}
	return found
}

// claimIncoherent returns the attributes that a new claim cannot have together.
func claimIncoherent(v values) []fault {
	found := atMostOne(v, "class", "pool", "allocation")
	if v["allocation"] != nil {
		found = append(found, atMostOne(v, "allocation", "cidr", "address", "prefix_length")...)
	}
	return found
}
