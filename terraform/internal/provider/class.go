package provider

func class() kind {
	bits := between(0, 128)
	return kind{
		name: "class", about: "A class is the policy for handing out one kind of address space.",
		path: "/v1/projects/{project}/classes/{name}", into: "/v1/projects/{project}/classes", filters: []field{labelFilter, familyFilter}, marked: true, patched: true,
		scopes: "/v1/projects/{project}/classes/{name}/scopes",
		query: func(v values) string {
			if isDefault, _ := v["is_default"].(bool); isDefault {
				return "?moveDefault=true"
			}
			return ""
		},
		slot: func(v values) string {
			if isDefault, _ := v["is_default"].(bool); isDefault {
				return fill("/v1/projects/{project}/default-class/{ip_family}", v)
			}
			return ""
		},
		fields: []field{
			projectField, nameField("class"),
			{name: "ip_family", at: "/spec/ipFamily", required: true, replace: true, oneOf: []string{"IPv4", "IPv6"}, about: "The family of its blocks."},
			{name: "visibility", def: "consumer", oneOf: []string{"consumer", "shared", "platform"}, about: "Whom it serves: its own project, or every project."},
			{name: "is_default", form: flag, def: false, about: "Whether it serves claims of its family that name nothing."},
			{name: "strategy", oneOf: []string{"FirstFit", "BestFit", "Random", "Sparse"}, about: "Which of the fitting free blocks is taken; by default as the pool says."},
			{name: "min_prefix_length", at: "/spec/allowedPrefixLengths/min", form: number, check: bits, about: "Length of the largest block that may be claimed."},
			{name: "max_prefix_length", at: "/spec/allowedPrefixLengths/max", form: number, check: bits, about: "Length of the smallest block that may be claimed."},
			{name: "default_prefix_length", form: number, check: bits, about: "What a claim without a length gets."},
			{name: "reclaim_policy", def: "Delete", oneOf: []string{"Delete", "Retain"}, about: "What becomes of the block of a claim that is deleted."},
			{name: "reuse_after", check: isDuration, same: sameDuration, about: "For how long nobody gets a block after its claim was deleted."},
			{name: "reuse_after_lost", check: isDuration, same: sameDuration, about: "The same after the last consumer was lost."},
			{name: "unique_within", def: "Space", replace: true, oneOf: []string{"Space", "Class"}, about: "Within what no two claims overlap."},
			{name: "pool_selection", def: "FirstFit", oneOf: []string{"FirstFit", "LeastUtilized"}, about: "In which order its pools are tried."},
			{name: "pool_per", form: texts, replace: true, about: "Whose claims have a pool of their own: `project` first, then roles of `scope`."},
			{name: "pool_prefix_length", form: number, replace: true, check: bits, about: "With `pool_per`, and required there: length of each such pool."},
			{name: "empty_pool_ttl", check: isDuration, same: sameDuration, computed: true, at: "/spec/emptyPoolTTL", about: "With `pool_per`: after how long an empty pool is deleted."},
			{name: "parameters", form: textMap, about: "Texts for people."},
			descriptionField, uidField,
			{name: "largest_prefix_length", form: number, from: "/status/largestPrefixLength", computed: true, dataOnly: true, about: "Length of the largest block that can be claimed now."},
			{name: "utilization_percent", derive: decimal("/status/utilizationPercent"), computed: true, dataOnly: true, about: "The share that is held, as a decimal number."},
		},
		invalid: func(v values) []fault {
			if known(v["pool_per"]) && known(v["pool_prefix_length"]) && (v["pool_per"] == nil) != (v["pool_prefix_length"] == nil) {
				return []fault{{"pool_prefix_length", "pool_per and pool_prefix_length go together."}}
			}
			return nil
		},
	}
}
