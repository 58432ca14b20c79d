package rows

import (
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

type allocationRow struct {
	ipam.Allocation
	held
	owner *string
}

// Allocations are read without the name of the project that owns the container.
var Allocations = kindOf(slices.Concat(
	table[allocationRow]{
		plain("region", func(r *allocationRow) *string { return &r.Region }),
		id("project_id", func(r *allocationRow) *ipam.ID { return &r.ProjectID }),
		id("container_id", func(r *allocationRow) *ipam.ID { return &r.ContainerID }),
		id("id", func(r *allocationRow) *ipam.ID { return &r.ID }),
		text("purpose", func(r *allocationRow) *ipam.Purpose { return &r.Purpose }),
		text("phase", func(r *allocationRow) *ipam.Phase { return &r.Phase }),
		id("holder_project_id", func(r *allocationRow) *ipam.ID { return &r.HolderProjectID }),
		text("reclaim_policy", func(r *allocationRow) *ipam.ReclaimPolicy { return &r.ReclaimPolicy }),
		maybeDocument("owner_ref", func(r *allocationRow) **ipam.OwnerRef { return &r.OwnerRef }, func(r *allocationRow) **string { return &r.owner }),
		plain("reason", func(r *allocationRow) *string { return &r.Reason }),
		moment("since", func(r *allocationRow) *time.Time { return &r.Since }),
		id("revision", func(r *allocationRow) *ipam.ID { return &r.Revision }),
		moment("created_at", func(r *allocationRow) *time.Time { return &r.CreatedAt }),
		moment("updated_at", func(r *allocationRow) *time.Time { return &r.UpdatedAt }),
		plain("created_by", func(r *allocationRow) *string { return &r.CreatedBy }),
		maybeMoment("cool_until", func(r *allocationRow) *time.Time { return &r.CoolUntil }),
	},
	heldColumns(func(r *allocationRow) *held { return &r.held }),
	refColumns("pool_project", "pool_name", func(r *allocationRow) *ipam.Ref { return &r.Pool }),
	refColumns("holder_project", "holder_name", func(r *allocationRow) *ipam.Ref { return &r.Holder }),
	classColumns(func(r *allocationRow) *ipam.ClassRef { return &r.Class }),
), func(a ipam.Allocation, d *documents) allocationRow {
	r := allocationRow{Allocation: a, held: heldIn(a.Block)}
	if a.OwnerRef != nil {
		doc := d.of(a.OwnerRef)
		r.owner = &doc
	}
	return r
}, func(r *allocationRow) (a ipam.Allocation, err error) {
	r.Block, err = r.block()
	return r.Allocation, err
})
