package ipam

import "time"

// Webhook is a URL to which Carve sends the changes in a project.
type Webhook struct {
	Metadata
	ProjectID ID              `json:"projectId"`
	Spec      WebhookSpec     `json:"spec"`
	Progress  WebhookProgress `json:"progress"`

	Stopped     StopReason `json:"stopped,omitempty"`    // "": not stopped
	DueAt       time.Time  `json:"dueAt,omitzero"`       // when a server should take the webhook, or when the lease expires; zero: never
	Lease       ID         `json:"-"`                    // the server that has taken the webhook; zero: none
	Epoch       ID         `json:"epoch"`                // the row's version; changes with every write
	DeadLetters int64      `json:"deadLetters,omitzero"` // number of given-up deliveries when the webhook was read

	Secret string `json:"-"` // only in the response that creates the webhook
}

// WebhookSpec has the webhook fields that the caller sets.
type WebhookSpec struct {
	URL           string    `json:"url"`
	Kinds         []string  `json:"resourceKinds,omitempty"`
	Name          string    `json:"resourceName,omitempty"`
	LabelSelector string    `json:"labelSelector,omitempty"`
	Labels        *Selector `json:"labels,omitempty"` // LabelSelector, parsed
	Paused        bool      `json:"paused,omitempty"`
}

// WebhookProgress is the state of a webhook's deliveries.
type WebhookProgress struct {
	Cursor      string     `json:"cursor"`             // the server has delivered or given up all changes before this position
	Failures    int        `json:"failures,omitempty"` // since the last successful attempt
	Error       *SendError `json:"error,omitempty"`    // from the last failure
	DeliveredAt time.Time  `json:"deliveredAt,omitzero"`
}

// SendError is the reason for a failed delivery.
type SendError struct {
	Reason string    `json:"reason"` // a word from a fixed set
	Status int       `json:"status,omitempty"`
	At     time.Time `json:"at"`
}

// ReasonUnserved is the reason in a SendError if the server itself failed. The server could not follow the changes, or could not record an outcome.
const ReasonUnserved = "unserved"

// StopReason is the reason why the server has stopped a webhook.
type StopReason string

// The reasons.
const (
	StoppedGone        StopReason = "Gone"               // the receiver returned 410
	StoppedDeadLetters StopReason = "TooManyDeadLetters" // the webhook has MaxDeadLetters given-up deliveries
	StoppedRestored    StopReason = "Restored"           // the database was restored from a backup, and the original installation may still send
)

// MaxDeadLetters is how many deliveries the server gives up (dead letters) before it stops a webhook.
const MaxDeadLetters = 100

// State returns Delivering, Retrying, Paused or Stopped.
func (w Webhook) State() string {
	switch {
	case w.Spec.Paused:
		return "Paused"
	case w.Stopped != "":
		return "Stopped"
	case w.Progress.Failures > 0 || w.Unserved():
		return "Retrying"
	default:
		return "Delivering"
	}
}

// Unserved reports whether the server that last took the webhook failed.
func (w Webhook) Unserved() bool {
	return w.Progress.Error != nil && w.Progress.Error.Reason == ReasonUnserved
}

// Sends reports whether the webhook is neither paused nor stopped.
func (w Webhook) Sends() bool { return !w.Spec.Paused && w.Stopped == "" }

// Wake makes the webhook due at a time. If a server has the webhook, Wake does nothing, because that server makes it due when it returns the webhook.
func (w *Webhook) Wake(at time.Time) {
	if w.Lease.IsZero() {
		w.DueAt = at
	}
}

// Delivery is a message to a webhook. The server still tries to send it, or has given it up. The receiver recognizes a repeated message by its id.
type Delivery struct {
	ID        ID
	Region    string
	ProjectID ID
	WebhookID ID
	Cursor    string // the position after the message
	Message   []byte
	Attempts  int
	BeganAt   time.Time
	Error     *SendError
	DeadAt    time.Time // when the server gave it up; zero: it did not
	Retry     bool      // send it once more, although the server has given it up
}
