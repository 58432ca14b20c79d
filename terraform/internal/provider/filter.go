package provider

// These are the filters that several lists have.
var (
	labelFilter    = field{name: "label_selector", about: "Only objects with matching labels, such as `env=prod,tier in (web,api)`."}
	familyFilter   = field{name: "ip_family", oneOf: families, about: "Only this family."}
	classFilter    = field{name: "class", check: isName, about: "Only objects of the class with this name."}
	poolFilter     = field{name: "pool", check: isRef, about: "Only blocks of this pool, `name` or `project/name`."}
	withinFilter   = field{name: "within", check: isCIDR, about: "Only blocks inside this block."}
	containsFilter = field{name: "contains", check: isAddress, about: "Only blocks that contain this address."}
)

func phaseFilter(phases ...string) field {
	return field{name: "phase", oneOf: phases, about: "Only objects in this phase."}
}
