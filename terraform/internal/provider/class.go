package provider

func class() kind {
	bits := between(0, 128)
	return kind{
		name: "class", about: "A class has the rules for allocating one kind of address space.",
		path: "/v1/projects/{project}/classes/{name}", filters: []field{labelFilter, familyFilter}, marked: true,
		scopes: "/v1/projects/{project}/classes/{name}/scopes",
		slot:   "/v1/projects/{project}/default-class/{ip_family}",
		fields: []field{
			projectField, nameField("class"),
			{name: "ip_family", required: true, replace: true, oneOf: families, about: "Address family of the blocks."},
			{name: "visibility", def: "consumer", oneOf: visibilities, about: "Projects that the class serves: its own, or every project."},
			{name: "is_default", form: flag, def: false, about: "Whether the class serves claims of its family that name no class, pool or allocation."},
			{name: "strategy", oneOf: strategies, about: "Method that selects among the free blocks that fit. By default the pool's."},
			{name: "min_prefix_length", at: "/spec/allowedPrefixLengths/min", form: number, check: bits, about: "Prefix length of the largest block that can be claimed."},
			{name: "max_prefix_length", at: "/spec/allowedPrefixLengths/max", form: number, check: bits, about: "Prefix length of the smallest block that can be claimed."},
			{name: "default_prefix_length", form: number, check: bits, about: "Prefix length for a claim that sets none."},
			{name: "reclaim_policy", def: "Delete", oneOf: reclaimPolicies, about: "The policy for the block when its claim is deleted, for claims that set none."},
			durationField("reuse_after", "Cool-down: time before a block can be claimed again after its claim was deleted. By default the pool's."),
			durationField("reuse_after_lost", "Cool-down for a block whose claim was released because its last consumer was lost."),
			{name: "unique_within", def: "Space", replace: true, oneOf: []string{"Space", "Class"}, about: "Range in which two claims never overlap: the pool's space, or all pools of the class."},
			{name: "pool_selection", def: "FirstFit", oneOf: []string{"FirstFit", "LeastUtilized"}, about: "Order in which the server tries the class's pools."},
			{name: "pool_per", form: texts, replace: true, about: "Roles that get separate pools, one for each combination of values: `project` first, then roles of `scope`."},
			{name: "pool_prefix_length", form: number, replace: true, check: bits, about: "Prefix length of each pool that is carved for `pool_per`. Required with `pool_per`."},
			{name: "empty_pool_ttl", check: isDuration, same: sameDuration, computed: true, about: "With `pool_per`: time after which an empty pool is deleted."},
			{name: "parameters", form: textMap, about: "Texts for people."},
			descriptionField, uidField,
			reported(number, "largest_prefix_length", "Prefix length of the largest block that can be claimed now."),
			{name: "utilization_percent", derive: decimal("/status/utilizationPercent"), computed: true, dataOnly: true, about: "Used share in percent, as a decimal number."},
		},
		invalid: func(v values) []fault {
			if known(v["pool_per"]) && known(v["pool_prefix_length"]) && (v["pool_per"] == nil) != (v["pool_prefix_length"] == nil) {
				return []fault{{"pool_prefix_length", "pool_per and pool_prefix_length go together: set both or neither."}}
			}
			return nil
		},
	}
}
