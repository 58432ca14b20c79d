package provider

// allocation is a kind that has only data sources. A configuration cannot create an allocation, because the server makes allocations for claims,
// child pools and reservations.
func allocation() kind {
	return kind{
		name:  "allocation",
		about: "An allocation is the record of one block in use. A claim can bind a retained allocation again: set its `allocation` to the `uid`.",
		path:  "/v1/projects/{project}/allocations/{uid}", filters: allocationFilters(),
		fields: []field{
			projectField,
			{name: "uid", key: true, required: true, at: "-", about: "The UID of the allocation."},
			{name: "cidr", from: "/status/allocatedCIDR", computed: true, about: "The block."},
			{name: "phase", from: "/status/phase", computed: true, about: "`Bound`, `Retained` or `CoolingDown`."},
			{name: "cool_until", from: "/status/coolUntil", computed: true, about: "Time at which a block in cool-down becomes free."},
			{name: "purpose", from: "/spec/purpose", computed: true, about: "`Claim`, `ChildPool` or `Reservation`."},
			{name: "pool", from: "/spec/poolRef", ref: true, computed: true, about: "The block's pool, as `project/name`."},
			{name: "claim", from: "/spec/claimRef", ref: true, computed: true, about: "The claim that has the block, or had it last, as `project/name`."},
			{name: "child_pool", from: "/spec/childPoolRef", ref: true, computed: true, about: "The child pool that has the block, as `project/name`."},
			{name: "class", from: "/spec/className", computed: true, about: "Name of the class that served the claim."},
			{name: "consumer", from: "/spec/consumer", computed: true, about: "The project that has the block, or had it last."},
			{name: "reclaim_policy", from: "/spec/reclaimPolicy", computed: true, about: "The policy for the block when the claim is deleted."},
			{name: "reason", from: "/spec/reason", computed: true, about: "Reason for a reservation."},
		},
	}
}
