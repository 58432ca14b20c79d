package provider

// allocation is a kind for data sources only: the server makes allocations for claims, child pools and reservations.
func allocation() kind {
	return kind{
		name:  "allocation",
		about: "An allocation is the record of one block that is held. The `uid` of a retained one can be given as `allocation` of a claim.",
		path:  "/v1/projects/{project}/allocations/{uid}", filters: allocationFilters(),
		fields: []field{
			projectField,
			{name: "uid", key: true, required: true, at: "-", about: "The UID of the allocation."},
			{name: "cidr", from: "/status/allocatedCIDR", computed: true, about: "The block."},
			{name: "phase", from: "/status/phase", computed: true, about: "`Bound`, `Retained` or `CoolingDown`."},
			{name: "cool_until", from: "/status/coolUntil", computed: true, about: "The time at which a block that cools down is free again."},
			{name: "purpose", from: "/spec/purpose", computed: true, about: "`Claim`, `ChildPool` or `Reservation`."},
			{name: "pool", from: "/spec/poolRef", ref: true, computed: true, about: "The pool of the block, as `project/name`."},
			{name: "claim", from: "/spec/claimRef", ref: true, computed: true, about: "The claim that holds the block, or held it last, as `project/name`."},
			{name: "child_pool", from: "/spec/childPoolRef", ref: true, computed: true, about: "The pool that the block is, as `project/name`."},
			{name: "class", from: "/spec/className", computed: true, about: "The name of the class that served the claim."},
			{name: "consumer", from: "/spec/consumer", computed: true, about: "The project that holds the block, or held it last."},
			{name: "reclaim_policy", from: "/spec/reclaimPolicy", computed: true, about: "What the server does with the block when the claim is deleted."},
			{name: "reason", from: "/spec/reason", computed: true, about: "The reason of a reservation."},
		},
	}
}
