package rows

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

type eventRow struct {
	ipam.Event
	before, after *string
}

// Events are read without their project.
var Events = kindOf(table[eventRow]{
	written(id("project_id", func(r *eventRow) *ipam.ID { return &r.ProjectID })),
	id("id", func(r *eventRow) *ipam.ID { return &r.ID }),
	moment("at", func(r *eventRow) *time.Time { return &r.At }),
	plain("subject", func(r *eventRow) *string { return &r.Subject }),
	plain("method", func(r *eventRow) *string { return &r.Method }),
	plain("remote", func(r *eventRow) *string { return &r.Remote }),
	plain("request_id", func(r *eventRow) *string { return &r.RequestID }),
	plain("operation", func(r *eventRow) *string { return &r.Operation }),
	plain("kind", func(r *eventRow) *string { return &r.Kind }),
	plain("name", func(r *eventRow) *string { return &r.Name }),
	plain("outcome", func(r *eventRow) *string { return &r.Outcome }),
	maybeDocument("before", func(r *eventRow) *[]byte { return (*[]byte)(&r.Before) }, func(r *eventRow) **string { return &r.before }),
	maybeDocument("after", func(r *eventRow) *[]byte { return (*[]byte)(&r.After) }, func(r *eventRow) **string { return &r.after }),
}, func(e ipam.Event, _ *documents) eventRow {
	return eventRow{e, rawOrNull(e.Before), rawOrNull(e.After)}
}, func(r *eventRow) (ipam.Event, error) { return r.Event, nil })

func rawOrNull(raw json.RawMessage) *string {
	if raw == nil {
		return nil
	}
	text := string(raw)
	return &text
}

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
