package provider

// These are the filters that several kinds of list have.
var (
	labelFilter    = field{name: "label_selector", about: "Only objects with matching labels, such as `env=prod,tier in (web,api)`."}
	familyFilter   = field{name: "ip_family", oneOf: []string{"IPv4", "IPv6"}, about: "Only this family."}
	classFilter    = field{name: "class", check: isName, about: "Only objects of the class with this name."}
	poolFilter     = field{name: "pool", check: isRef, about: "Only blocks of this pool, `name` or `project/name`."}
	withinFilter   = field{name: "within", check: isCIDR, about: "Only blocks inside this block."}
	containsFilter = field{name: "contains", check: isAddress, about: "Only blocks that contain this address."}
)

func phaseFilter(phases ...string) field {
	return field{name: "phase", oneOf: phases, about: "Only objects in this phase."}
}

func poolFilters() []field {
	return []field{
		labelFilter, phaseFilter("Pending", "Ready", "Exhausted", "Draining", "Error"), familyFilter,
		{name: "space", check: isRef, about: "Only pools of this space, `name` or `project/name`."},
		{name: "parent", check: isRef, about: "Only children of this pool, `name` or `project/name`."},
		{name: "roots", form: flag, about: "Whether to list only pools without a parent."},
		{name: "visibility", oneOf: []string{"consumer", "shared", "platform"}, about: "Only pools with this visibility."},
		classFilter, withinFilter, containsFilter,
	}
}

func claimFilters() []field {
	return []field{
		{name: "owner", about: "Only claims with this `owner_ref`, as `kind/name/uid`. Parts at the end can be left out."},
		labelFilter, phaseFilter("Pending", "Bound", "Releasing", "Error"), familyFilter, poolFilter, classFilter, withinFilter, containsFilter,
		{name: "consumer", check: isUID, about: "Only claims to which the consumer with this UID is attached."},
		{name: "realm", check: isName, about: "The realm of `consumer`, `default` by default."},
	}
}

func allocationFilters() []field {
	return []field{
		{name: "holder", oneOf: []string{"self"}, about: "`self` lists only blocks that the project has."},
		phaseFilter("Bound", "Retained", "CoolingDown"),
		{name: "purpose", oneOf: []string{"Claim", "ChildPool", "Reservation"}, about: "Only blocks with this purpose."},
		familyFilter, poolFilter, classFilter, withinFilter, containsFilter,
	}
}
