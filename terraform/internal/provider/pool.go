package provider

func pool() kind {
	bits := between(0, 128)
	return kind{
		name: "pool", about: "A pool is a block from which other blocks are carved. A root pool has a `cidr` in a space; a child pool is carved from its `parent`.",
		path: "/v1/projects/{project}/pools/{name}", marked: true, guarded: true,
		filters: []field{
			labelFilter, phaseFilter("Pending", "Ready", "Exhausted", "Draining", "Error"), familyFilter,
			{name: "space", check: isRef, about: "Only pools of this space, `name` or `project/name`."},
			{name: "parent", check: isRef, about: "Only children of this pool, `name` or `project/name`."},
			{name: "roots", form: flag, about: "Whether to list only pools without a parent."},
			{name: "visibility", oneOf: visibilities, about: "Only pools with this visibility."},
			classFilter, withinFilter, containsFilter,
		},
		scopes: "/v1/projects/{project}/pools?parent={name}",
		fields: []field{
			projectField, nameField("pool"),
			{
				name: "space", of: "spaces", from: "/status/spaceRef", ref: true, replace: true,
				about: "The space of a root pool, `name` or `project/name`; `default` by default. A child pool is in its parent's space.",
			},
			{name: "parent", of: "pools", ref: true, replace: true, about: "Child pool: the pool to carve from, in the same project."},
			{name: "cidr", from: "/status/allocatedCIDR", replace: true, check: isCIDR, same: sameCIDR, about: "The block. Root pool: required. Child pool: the exact block to carve from the parent."},
			{
				name: "prefix_length", form: number, derive: length, redundant: isGiven("cidr"), replace: true, check: bits,
				about: "Child pool: the block's prefix length. The parent's strategy chooses the block.",
			},
			descriptionField,
			{
				name: "visibility", def: "consumer", oneOf: visibilities,
				about: "Projects that can claim from the pool: its own (`consumer`), its own and those with a grant (`shared`), or `platform` (`platform`).",
			},
			{
				name: "strategy", at: "/spec/allocation/strategy", def: "BestFit", oneOf: strategies,
				about: "Method that selects among the free blocks that fit.",
			},
			{name: "min_prefix_length", at: "/spec/allocation/minPrefixLength", form: number, check: bits, about: "Prefix length of the largest block that can be carved."},
			{name: "max_prefix_length", at: "/spec/allocation/maxPrefixLength", form: number, check: bits, about: "Prefix length of the smallest block that can be carved."},
			{name: "default_prefix_length", at: "/spec/allocation/defaultPrefixLength", form: number, check: bits, about: "Prefix length for a claim that sets none."},
			{
				name: "reservations", form: objects, about: "Parts of the pool that are never carved. Each has exactly one form: `cidr`, `from` with `to`, `first` or `last`.",
				fields: []field{
					{name: "cidr", check: isCIDR, same: sameCIDR, about: "Reserved block."},
					{name: "from", check: isAddress, same: sameAddress, about: "First address of a reserved range."},
					{name: "to", check: isAddress, same: sameAddress, about: "Last address of the reserved range."},
					{name: "first", form: number, check: between(1, 65536), about: "Number of addresses to reserve at the start of the pool."},
					{name: "last", form: number, check: between(1, 65536), about: "Number of addresses to reserve at the end of the pool."},
					{name: "reason", about: "Reason for the reservation."},
				},
			},
			{name: "classes", of: "classes", at: "/spec/classNames", form: textSet, check: all(isName), about: "Names of the classes that the pool backs."},
			durationField("reuse_after", "Cool-down: time before a block can be claimed again after its claim was deleted, such as `72h`."),
			{
				name: "drain", later: true, oneOf: []string{"Keep", "Delete"},
				about: "Drains the pool: no block can be carved from it, and existing blocks stay. When the pool is empty, the server keeps it (`Keep`) or deletes it within seconds " +
					"(`Delete`): then remove the resource from the configuration. Remove the attribute to end the draining.",
			},
			{name: "region", from: "/metadata/region", replace: true, check: isName, about: "The pool's home region. By default the first of `regions` in alphabetical order, or else the server's region."},
			{
				name: "regions", form: textSet, check: all(isName), about: "Regions that serve the pool, including its home. By default only the home serves it.",
				implied: func(d document) any { return []any{d.text("/metadata/region")} },
			},
			uidField,
			{name: "ip_family", from: "/status/ipFamily", computed: true, about: "`IPv4` or `IPv6`."},
			reported(text, "phase", "The pool's phase."),
			{name: "utilization_percent", derive: decimal("/status/utilizationPercent"), computed: true, dataOnly: true, about: "Used share in percent, as a decimal number."},
			reported(number, "largest_free_prefix_length", "Prefix length of the largest free block."),
			reported(object, "capacity", "Exact numbers of addresses, in decimal digits.",
				field{name: "total", about: "All addresses."}, field{name: "allocated", about: "Allocated addresses."},
				field{name: "reserved", about: "Reserved addresses."}, field{name: "cooling_down", about: "Released addresses that are still in cool-down."},
				field{name: "available", about: "Free addresses."}),
		},
		invalid: func(v values) []fault {
			if v["parent"] == nil && v["cidr"] == nil {
				return []fault{{"cidr", "A root pool needs cidr. A child pool needs parent, with prefix_length or cidr."}}
			}
			if v["parent"] != nil && v["cidr"] == nil && v["prefix_length"] == nil {
				return []fault{{"prefix_length", "One of prefix_length, cidr must be set."}}
			}
			return lengthOf(v, "cidr")
		},
		incoherent: func(v values) []fault {
			if v["drain"] != "Delete" {
				return nil
			}
			return []fault{{"drain", `The plan creates the pool, but with drain = "Delete" the server deletes an empty pool. If the pool was drained and the server has deleted it, ` +
				`remove the resource from the configuration. If the pool exists, import it.`}}
		},
	}
}
