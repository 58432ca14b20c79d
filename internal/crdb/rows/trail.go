package rows

import (
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Events are rows of the trail. They are read without their project.
var Events = kindOf(table[EventRow]{
	written(id("project_id", func(r *EventRow) *ipam.ID { return &r.ProjectID })),
	id("id", func(r *EventRow) *ipam.ID { return &r.ID }),
	plain("count", func(r *EventRow) *int16 { return &r.Count }),
	raw("events", func(r *EventRow) *[]byte { return &r.Events }),
}, asItIs, asRead)

type holdRow struct {
	ipam.Hold
	held
}

// Holds are the history of blocks; they are read without their project.
var Holds = kindOf(slices.Concat(
	table[holdRow]{
		written(id("project_id", func(r *holdRow) *ipam.ID { return &r.ProjectID })),
		id("id", func(r *holdRow) *ipam.ID { return &r.ID }),
		moment("until", func(r *holdRow) *time.Time { return &r.Until }),
		moment("since", func(r *holdRow) *time.Time { return &r.Since }),
		text("purpose", func(r *holdRow) *ipam.Purpose { return &r.Purpose }),
		text("phase", func(r *holdRow) *ipam.Phase { return &r.Phase }),
		id("allocation_id", func(r *holdRow) *ipam.ID { return &r.AllocationID }),
	},
	heldColumns(func(r *holdRow) *held { return &r.held }),
	refColumns("pool_project", "pool_name", func(r *holdRow) *ipam.Ref { return &r.Pool }),
	refColumns("holder_project", "holder_name", func(r *holdRow) *ipam.Ref { return &r.Holder }),
), func(h ipam.Hold, _ *documents) holdRow { return holdRow{h, heldIn(h.Block)} }, func(r *holdRow) (h ipam.Hold, err error) {
	r.Block, err = r.block()
	return r.Hold, err
})
