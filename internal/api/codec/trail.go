package codec

import (
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// EventOf converts an audit event into its wire form.
func EventOf(e ipam.Event) gen.AuditEvent {
	return gen.AuditEvent{
		ID: e.ID.String(), At: e.At, Subject: e.Subject, Method: e.Method, RemoteAddress: e.Remote, RequestID: e.RequestID,
		Operation: e.Operation, Resource: gen.AuditResource{Kind: e.Kind, Name: e.Name}, Outcome: e.Outcome,
		Before: e.Before, After: e.After,
	}
}

// HoldOf converts a block's past or present holder into its wire form. If the holder is another project's claim, its name is empty, because the
// caller may not know it.
func HoldOf(h ipam.Hold) gen.HistoryEntry {
	out := gen.HistoryEntry{
		AllocatedCIDR: h.Block.String(), PoolRef: resolvedRefOf(h.Pool), Purpose: gen.HistoryPurpose(h.Purpose),
		Phase: gen.IPAllocationPhase(h.Phase), Consumer: h.Holder.Project, Allocation: h.AllocationID.String(),
		Since: h.Since, Until: OptionalTime(h.Until),
	}
	if b := h.Because; b.IsSet() {
		out.Because = &gen.HistoryBecause{Reason: string(b.Reason), Realm: b.Consumer.Realm, UID: b.Consumer.UID}
	}
	switch h.Purpose {
	case ipam.PurposeClaim:
		out.ClaimRef = optionalRefOf(h.Holder)
	case ipam.PurposeChildPool:
		out.ChildPoolRef = optionalRefOf(h.Holder)
	case ipam.PurposeReservation, ipam.PurposeRootPool: // such blocks have no history
	}
	return out
}
