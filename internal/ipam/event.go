package ipam

import (
	"encoding/json"
	"net/netip"
	"time"
)

// OutcomeOK is an event's outcome if the change succeeded. For a refused attempt, the outcome is the refusal's code.
const OutcomeOK = "ok"

// Event is one record in the audit trail. It describes a change, or an attempt without permission.
type Event struct {
	ID        ID // UUID version 7; sorts by time, and within a transaction in recording order
	ProjectID ID // the project that owns the audit trail
	At        time.Time
	Subject   string
	Method    string
	Remote    string
	RequestID string
	Operation string
	Kind      string // the resource's
	Name      string // the resource's
	Outcome   string
	Before    json.RawMessage // only the differences; nil: the resource did not exist
	After     json.RawMessage // only the differences; nil: the resource does not exist
}

// Hold is a period in which a claim or a child pool holds or held a block.
type Hold struct {
	ID           ID // the row's
	ProjectID    ID // the pool's owner
	Project      string
	Pool         Ref
	Block        netip.Prefix
	Purpose      Purpose
	Phase        Phase
	AllocationID ID
	Holder       Ref // the claim or child pool
	Since        time.Time
	Until        time.Time    // zero: it has not ended
	Because      ReleaseCause // set if a consumer's detachment released the claim
}

// ReleaseCause describes the detachment of a consumer that released a claim. The zero value means that no detachment released the claim.
type ReleaseCause struct {
	Reason   EndReason
	Consumer ConsumerRef
}

// IsSet reports whether a detachment released the claim.
func (b ReleaseCause) IsSet() bool { return b.Reason != "" }
