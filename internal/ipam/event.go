package ipam

import (
	"encoding/json"
	"net/netip"
	"time"
)

// OutcomeOK is the outcome of an event that had an effect; otherwise the outcome is the refusal's code.
const OutcomeOK = "ok"

// Event is one record in the audit trail: a change, or an attempt without permission.
type Event struct {
	ID        ID // version 7: ordered by time, and within a transaction by order of recording
	ProjectID ID // the project that owns the audit trail
	At        time.Time
	Subject   string
	Method    string
	Remote    string
	RequestID string
	Operation string
	Kind      string // of the resource
	Name      string // of the resource
	Outcome   string
	Before    json.RawMessage // only the differences; nil: the resource did not exist
	After     json.RawMessage // only the differences; nil: the resource does not exist
}

// Hold is a period during which a holder holds or held a block.
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
	Until        time.Time // zero: it has not ended
	Because      Because   // the reason, if the end of a consumer ended it
}

// Because is the end of a consumer that released a claim. The zero value is no reason.
type Because struct {
	Reason   EndReason
	Consumer ConsumerRef
}

// IsSet reports whether the reason is set.
func (b Because) IsSet() bool { return b.Reason != "" }
