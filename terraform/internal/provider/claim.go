package provider

import "net/netip"

func claim() kind {
	return kind{
		name: "claim", about: "A claim gets one block, and keeps it until the claim is destroyed. `cidr` and `address` are known after apply.",
		path: "/v1/projects/{project}/claims/{name}", filters: claimFilters(), marked: true, guarded: true, patched: true, explained: true,
		fields: append(append([]field{projectField, nameField("claim")}, claimSpec()...),
			uidField,
			field{name: "phase", from: "/status/phase", computed: true, dataOnly: true, about: "The claim's phase."},
			field{name: "consumers", form: number, from: "/status/consumers", computed: true, dataOnly: true, about: "Number of attached consumers."},
		),
		invalid: claimInvalid, incoherent: claimIncoherent,
	}
}

// claimSpec returns the attributes of a claim's spec.
func claimSpec() []field {
	return []field{
		{
			name: "class", of: "classes", at: "/spec/className", from: "/status/className", replace: true, check: isName,
			about: "Name of the class that serves the claim: a class of the project, or a shared class of the platform. Default, without `pool` and `allocation`: the default class.",
		},
		{
			name: "pool", of: "pools", at: "/spec/poolRef", from: "/status/poolRef", ref: true, replace: true, check: isRef,
			about: "The pool to take the block from, `name` or `project/name`. Prefer a class.",
		},
		{name: "allocation", at: "/spec/allocationRef/name", replace: true, about: "The UID of a retained allocation to bind again."},
		{name: "scope", form: textMap, replace: true, about: "Values for the roles that a class with `pool_per` requires."},
		{name: "prefix_length", form: number, derive: length, redundant: isGiven("cidr", "address"), replace: true, check: between(0, 128), about: "The block's prefix length."},
		{name: "ip_family", derive: family, replace: true, oneOf: []string{"IPv4", "IPv6"}, at: "/spec/ipFamily", about: "Use only classes and pools of this family."},
		{name: "cidr", from: "/status/allocatedCIDR", redundant: isGiven("address"), replace: true, check: isCIDR, same: sameCIDR, about: "The block. Set it to claim this exact block."},
		{name: "address", from: "/status/address", replace: true, check: isAddress, same: sameAddress, about: "The address, if the block is a single address. Set it to claim this exact address."},
		{name: "reclaim_policy", from: "/status/reclaimPolicy", oneOf: []string{"Delete", "Retain"}, about: "The policy for the block when the claim is deleted."},
		{name: "owner_ref", form: object, replace: true, about: "Free text that identifies the claim's owner in another system.", fields: []field{
			{name: "kind", about: "The owner's kind."}, {name: "name", about: "The owner's name."}, {name: "uid", about: "The owner's UID."},
		}},
		{name: "max_consumers", form: number, replace: true, check: between(1, 256), about: "Maximum number of consumers that can be attached at the same time; 1 by default."},
		{name: "when_unused", replace: true, oneOf: []string{"Keep", "Delete"}, about: "Whether the claim stays or is deleted when its last consumer is detached; `Keep` by default."},
	}
}

// claimInvalid returns the faults of attributes that contradict each other.
func claimInvalid(v values) []fault {
	found := append(lengthOf(v, "cidr"), lengthOf(v, "address")...)
	cidr, err := netip.ParsePrefix(v.text("cidr"))
	address, err2 := netip.ParseAddr(v.text("address"))
	if err == nil && err2 == nil && (!cidr.IsSingleIP() || cidr.Addr() != address) {
		found = append(found, fault{"address", "address is not the only address in cidr: remove one of the two."})
	}
	return found
}

// claimIncoherent returns the faults of attributes that a new claim cannot have together.
func claimIncoherent(v values) []fault {
	found := atMostOne(v, "class", "pool", "allocation")
	if v["allocation"] != nil {
		found = append(found, atMostOne(v, "allocation", "cidr", "address", "prefix_length")...)
	}
	return found
}
