package ipam

import (
	"encoding/json"
	"net/netip"
	"time"
)

// OutcomeOK is the outcome of an event that had an effect; otherwise the outcome is the refusal's code.
const OutcomeOK = "ok"

// Event is one record of the audit trail: a change, or an attempt to make one without the right to.
type Event struct {
	ID        ID // of version 7: in order of time, and in that in which a transaction recorded them
	ProjectID ID // whose trail
	At        time.Time
	Subject   string
	Method    string
	Remote    string
	RequestID string
	Operation string
	Kind      string // of the resource
	Name      string // of the resource
	Outcome   string
	Before    json.RawMessage // only what differs; nil: there was nothing
	After     json.RawMessage // only what differs; nil: there is nothing
}

// Hold is the time for which a block was, or is, held for one holder.
type Hold struct {
	ID           ID // of the row
	ProjectID    ID // owner of the pool
	Project      string
	Pool         Ref
	Block        netip.Prefix
	Purpose      Purpose
	Phase        Phase
	AllocationID ID
	Holder       Ref // the claim or child pool
	Since        time.Time
	Until        time.Time // zero: it is held still
	Because      Because   // why it ended, if the end of a consumer ended it
}

// Because says which end, and of which consumer, released a claim. The zero one says nothing.
type Because struct {
	Reason   EndReason
	Consumer ConsumerRef
}

// Told reports whether there is anything to say.
func (b Because) Told() bool { return b.Reason != "" }
