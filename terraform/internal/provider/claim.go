package provider

import "net/netip"

func claim() kind {
	return kind{
		name: "claim", about: "A claim gets one block, and keeps it until the claim is destroyed. `cidr` and `address` are known after apply.",
		path: "/v1/projects/{project}/claims/{name}", marked: true, put: true, guarded: true, explained: true,
		filters: []field{
			{name: "owner", about: "Only claims with this `owner_ref`, as `kind/name/uid`. Parts at the end can be left out."},
			labelFilter, phaseFilter("Pending", "Bound", "Releasing", "Error"), familyFilter, poolFilter, classFilter, withinFilter, containsFilter,
			{name: "consumer", check: isUID, about: "Only claims to which the consumer with this UID is attached."},
			{name: "realm", check: isName, about: "The realm of `consumer`, `default` by default."},
		},
		fields: append(append([]field{projectField, nameField("claim")}, claimSpec()...),
			uidField,
			reported(text, "phase", "The claim's phase."),
			reported(number, "consumers", "Number of attached consumers."),
		),
		invalid: claimInvalid, incoherent: claimIncoherent,
	}
}

// claimSpec returns the attributes in a claim's spec.
func claimSpec() []field {
	return []field{
		{
			name: "class", of: "classes", at: "/spec/className", from: "/status/className", replace: true, check: isName,
			about: "Class that serves the claim: a class of the project, or a shared class of the platform. Without `class`, `pool` and `allocation`: the default class.",
		},
		{
			name: "pool", of: "pools", from: "/status/poolRef", ref: true, replace: true,
			about: "The pool to take the block from, `name` or `project/name`. Prefer a class.",
		},
		{name: "allocation", at: "/spec/allocationRef/name", replace: true, about: "The UID of a retained allocation to bind again."},
		{name: "scope", form: textMap, replace: true, about: "Values for the roles that a class with `pool_per` requires."},
		{name: "prefix_length", form: number, derive: length, redundant: isGiven("cidr", "address"), replace: true, check: between(0, 128), about: "The block's prefix length."},
		{name: "ip_family", derive: family, replace: true, oneOf: families, about: "Use only classes and pools of this family."},
		{name: "cidr", from: "/status/allocatedCIDR", redundant: isGiven("address"), replace: true, check: isCIDR, same: sameCIDR, about: "The block. Set it to claim this exact block."},
		{name: "address", from: "/status/address", replace: true, check: isAddress, same: sameAddress, about: "The address, if the block is a single address. Set it to claim this exact address."},
		{name: "reclaim_policy", from: "/status/reclaimPolicy", oneOf: reclaimPolicies, about: "The policy for the block when the claim is deleted."},
		{name: "owner_ref", form: object, replace: true, about: "Free text that identifies the claim's owner in another system.", fields: []field{
			{name: "kind", about: "The owner's kind."}, {name: "name", about: "The owner's name."}, {name: "uid", about: "The owner's UID."},
		}},
		{name: "max_consumers", form: number, replace: true, check: between(1, 256), about: "Maximum number of consumers that can be attached at the same time; 1 by default."},
		{name: "when_unused", replace: true, oneOf: []string{"Keep", "Delete"}, about: "Whether the claim stays or is deleted when its last consumer is detached; `Keep` by default."},
	}
}

// claimInvalid returns a fault for each attribute that contradicts another one.
func claimInvalid(v values) []fault {
	found := append(lengthOf(v, "cidr"), lengthOf(v, "address")...)
	cidr, err := netip.ParsePrefix(v.text("cidr"))
	address, err2 := netip.ParseAddr(v.text("address"))
	if err == nil && err2 == nil && (!cidr.IsSingleIP() || cidr.Addr() != address) {
		found = append(found, fault{"address", "address is not the only address in cidr: remove one of the two."})
	}
	return found
}

// claimIncoherent returns a fault for each attribute that a new claim cannot have together with another one.
func claimIncoherent(v values) []fault {
	found := atMostOne(v, "class", "pool", "allocation")
	if v["allocation"] != nil {
		found = append(found, atMostOne(v, "allocation", "cidr", "address", "prefix_length")...)
	}
	return found
}
