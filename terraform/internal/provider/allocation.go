package provider

// allocation is a kind that has only data sources. A configuration cannot create an allocation, because the server makes allocations for claims,
// child pools and reservations.
func allocation() kind {
	return kind{
		name:  "allocation",
		about: "An allocation is the record of one block in use. A claim can bind a retained allocation again: set its `allocation` to the `uid`.",
		path:  "/v1/projects/{project}/allocations/{uid}",
		filters: []field{
			{name: "holder", oneOf: []string{"self"}, about: "`self` lists only blocks that the project has."},
			phaseFilter("Bound", "Retained", "CoolingDown"),
			{name: "purpose", oneOf: []string{"Claim", "ChildPool", "Reservation"}, about: "Only blocks with this purpose."},
			familyFilter, poolFilter, classFilter, withinFilter, containsFilter,
		},
		fields: []field{
			projectField,
			{name: "uid", key: true, required: true, about: "The UID of the allocation."},
			{name: "cidr", from: "/status/allocatedCIDR", about: "The block."},
			reported(text, "phase", "`Bound`, `Retained` or `CoolingDown`."),
			reported(text, "cool_until", "Time at which a block in cool-down becomes free."),
			{name: "purpose", about: "`Claim`, `ChildPool` or `Reservation`."},
			{name: "pool", ref: true, about: "The block's pool, as `project/name`."},
			{name: "claim", ref: true, about: "The claim that has the block, or had it last, as `project/name`."},
			{name: "child_pool", ref: true, about: "The child pool that has the block, as `project/name`."},
			{name: "class", at: "/spec/className", about: "Name of the class that served the claim."},
			{name: "consumer", about: "The project that has the block, or had it last."},
			{name: "reclaim_policy", about: "The policy for the block when the claim is deleted."},
			{name: "reason", about: "Reason for a reservation."},
		},
	}
}
