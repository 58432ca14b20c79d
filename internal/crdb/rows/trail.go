package rows

import (
	"slices"
	"strings"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Events maps the audit trail's rows. A row that is read lacks its project.
var Events = kindOf(table[EventRow]{
	writeOnly(id("project_id", func(r *EventRow) *ipam.ID { return &r.ProjectID })),
	id("id", func(r *EventRow) *ipam.ID { return &r.ID }),
	plain("count", func(r *EventRow) *int16 { return &r.Count }),
	raw("events", func(r *EventRow) *[]byte { return &r.Events }),
}, asItIs, asRead)

type holdRow struct {
	ipam.Hold
	held
	phase string
}

// phaseOf returns the text in the column phase. It consists of the phase and, if the period ended for a reason, that reason. Most rows have no
// reason, so their text is short.
func phaseOf(h ipam.Hold) string {
	if !h.Because.IsSet() {
		return string(h.Phase)
	}
	return strings.Join([]string{string(h.Phase), string(h.Because.Reason), h.Because.Consumer.Realm, h.Because.Consumer.UID}, " ")
}

func (r *holdRow) readPhase() {
	parts := strings.Split(r.phase, " ")
	r.Phase = ipam.Phase(parts[0])
	if len(parts) == 4 {
		r.Because = ipam.ReleaseCause{Reason: ipam.EndReason(parts[1]), Consumer: ipam.ConsumerRef{Realm: parts[2], UID: parts[3]}}
	}
}

// Holds maps block history to rows. A record that is read lacks its project.
var Holds = kindOf(slices.Concat(
	table[holdRow]{
		writeOnly(id("project_id", func(r *holdRow) *ipam.ID { return &r.ProjectID })),
		id("id", func(r *holdRow) *ipam.ID { return &r.ID }),
		moment("until", func(r *holdRow) *time.Time { return &r.Until }),
		moment("since", func(r *holdRow) *time.Time { return &r.Since }),
		text("purpose", func(r *holdRow) *ipam.Purpose { return &r.Purpose }),
		plain("phase", func(r *holdRow) *string { return &r.phase }),
		id("allocation_id", func(r *holdRow) *ipam.ID { return &r.AllocationID }),
	},
	heldColumns(func(r *holdRow) *held { return &r.held }),
	refColumns("pool_project", "pool_name", func(r *holdRow) *ipam.Ref { return &r.Pool }),
	refColumns("holder_project", "holder_name", func(r *holdRow) *ipam.Ref { return &r.Holder }),
), func(h ipam.Hold, _ *documents) holdRow { return holdRow{h, heldIn(h.Block), phaseOf(h)} }, func(r *holdRow) (h ipam.Hold, err error) {
	r.readPhase()
	r.Block, err = r.block()
	return r.Hold, err
})
