package provider

func pool() kind {
	bits := between(0, 128)
	return kind{
		name: "pool", about: "A pool is a block from which others are carved: a root has a `cidr` in a space, a child is carved from its `parent`.",
		path: "/v1/projects/{project}/pools/{name}", into: "/v1/projects/{project}/pools", filters: poolFilters(), marked: true, guarded: true, patched: true,
		scopes: "/v1/projects/{project}/pools?parent={name}",
		fields: []field{
			projectField, nameField("pool"),
			{
				name: "space", of: "spaces", at: "/spec/spaceRef", from: "/status/spaceRef", ref: true, replace: true, check: isRef,
				about: "The space of a root, `name` or `project/name`; `default` when it is left out. A child is in the space of its parent.",
			},
			{name: "parent", of: "pools", at: "/spec/parentRef", ref: true, replace: true, check: isRef, about: "The pool that a child is carved from, one of the same project."},
			{name: "cidr", from: "/status/allocatedCIDR", replace: true, check: isCIDR, same: sameCIDR, about: "The block: required for a root; for a child this very block of the parent."},
			{
				name: "prefix_length", form: number, derive: length, redundant: isGiven("cidr"), replace: true, check: bits,
				about: "For a child: a block of this length, which the parent's strategy chooses.",
			},
			descriptionField,
			{
				name: "visibility", def: "consumer", oneOf: []string{"consumer", "shared", "platform"},
				about: "Who may claim from it: its own project, those it is granted to as well, or the platform.",
			},
			{
				name: "strategy", at: "/spec/allocation/strategy", def: "BestFit", oneOf: []string{"FirstFit", "BestFit", "Random", "Sparse"},
				about: "Which of the fitting free blocks is taken.",
			},
			{name: "min_prefix_length", at: "/spec/allocation/minPrefixLength", form: number, check: bits, about: "Length of the largest block that may be carved."},
			{name: "max_prefix_length", at: "/spec/allocation/maxPrefixLength", form: number, check: bits, about: "Length of the smallest block that may be carved."},
			{name: "default_prefix_length", at: "/spec/allocation/defaultPrefixLength", form: number, check: bits, about: "What a claim without a length gets."},
			{
				name: "reservations", form: objects, about: "What is withheld from carving. Each is exactly one of `cidr`, `from` with `to`, `first`, `last`.",
				fields: []field{
					{name: "cidr", check: isCIDR, same: sameCIDR, about: "This block."},
					{name: "from", check: isAddress, same: sameAddress, about: "First address of a range."},
					{name: "to", check: isAddress, same: sameAddress, about: "Last address of the range."},
					{name: "first", form: number, check: between(1, 65536), about: "The first n addresses of the pool."},
					{name: "last", form: number, check: between(1, 65536), about: "The last n addresses of the pool."},
					{name: "reason", about: "What for."},
				},
			},
			{name: "classes", of: "classes", at: "/spec/classNames", form: textSet, check: all(isName), about: "Names of the classes that it backs."},
			{name: "reuse_after", check: isDuration, same: sameDuration, about: "For how long nobody gets a block after its claim was deleted, such as `72h`."},
			{
				name: "drain", later: true, oneOf: []string{"Keep", "Delete"},
				about: "Drains the pool: nothing more is carved from it, and what it holds stays. When it is empty, the server keeps it (`Keep`) or deletes it within seconds " +
					"(`Delete`): then remove the resource from the configuration. Remove the attribute to end the draining.",
			},
			{name: "region", from: "/metadata/region", replace: true, check: isName, about: "Its home: by default the first of `regions` in the order of the alphabet, or else that of the server."},
			{
				name: "regions", form: textSet, check: all(isName), about: "Where it is served, its home among them; by default at its home alone.",
				implied: func(d document) any { return []any{d.text("/metadata/region")} },
			},
			uidField,
			{name: "ip_family", from: "/status/ipFamily", computed: true, about: "`IPv4` or `IPv6`."},
			{name: "phase", from: "/status/phase", computed: true, dataOnly: true, about: "Its phase."},
			{name: "utilization_percent", derive: decimal("/status/utilizationPercent"), computed: true, dataOnly: true, about: "The share that is held, as a decimal number."},
			{name: "largest_free_prefix_length", form: number, from: "/status/largestFreePrefixLength", computed: true, dataOnly: true, about: "Length of the largest free block."},
			{
				name: "capacity", form: object, from: "/status/capacity", computed: true, dataOnly: true, about: "Addresses, exactly, as decimal numbers.",
				fields: []field{
					{name: "total", about: "All."}, {name: "allocated", about: "Held."}, {name: "reserved", about: "Withheld."},
					{name: "cooling_down", about: "Released, and not free yet."}, {name: "available", about: "Free."},
				},
			},
		},
		invalid: func(v values) []fault {
			if v["parent"] == nil && v["cidr"] == nil {
				return []fault{{"cidr", "A root pool needs cidr, and a child pool parent with prefix_length or cidr."}}
			}
			if v["parent"] != nil && v["cidr"] == nil && v["prefix_length"] == nil {
				return []fault{{"prefix_length", "One of prefix_length, cidr must be given."}}
			}
			return lengthOf(v, "cidr")
		},
		incoherent: func(v values) []fault {
			if v["drain"] != "Delete" {
				return nil
			}
			return []fault{{"drain", `The plan creates the pool, and drain = "Delete" has the server delete an empty pool. If the pool was drained and the server has deleted it, ` +
				`remove the resource from the configuration. If the pool exists, import it.`}}
		},
	}
}
