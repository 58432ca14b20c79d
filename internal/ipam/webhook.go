package ipam

import "time"

// Webhook is where what changes in a project is sent.
type Webhook struct {
	Metadata
	ProjectID ID              `json:"projectId"`
	Spec      WebhookSpec     `json:"spec"`
	Progress  WebhookProgress `json:"progress"`

	Stopped     StopReason `json:"stopped,omitempty"`    // "": it is not
	DueAt       time.Time  `json:"dueAt,omitzero"`       // when a server is to look at it, and until when the one that has it may; zero: none is to
	Lease       ID         `json:"-"`                    // the server that has it; zero: none
	Epoch       ID         `json:"epoch"`                // another one after every change of the row
	DeadLetters int64      `json:"deadLetters,omitzero"` // as they were counted

	Secret string `json:"-"` // in the answer that creates it, and nowhere else
}

// WebhookSpec is what the caller writes of a webhook.
type WebhookSpec struct {
	URL           string    `json:"url"`
	Kinds         []string  `json:"resourceKinds,omitempty"`
	Name          string    `json:"resourceName,omitempty"`
	LabelSelector string    `json:"labelSelector,omitempty"`
	Labels        *Selector `json:"labels,omitempty"` // what LabelSelector says
	Paused        bool      `json:"paused,omitempty"`
}

// WebhookProgress is how far a webhook is.
type WebhookProgress struct {
	Cursor      string     `json:"cursor"`             // what is before it was delivered, or given up
	Failures    int        `json:"failures,omitempty"` // since the last try that was none
	Error       *SendError `json:"error,omitempty"`    // of the last failure
	DeliveredAt time.Time  `json:"deliveredAt,omitzero"`
}

// SendError is why something could not be delivered.
type SendError struct {
	Reason string    `json:"reason"` // a fixed word
	Status int       `json:"status,omitempty"`
	At     time.Time `json:"at"`
}

// ReasonUnserved is the reason of a SendError when the server itself could not send: it could not follow the changes, or not write what came of it.
const ReasonUnserved = "unserved"

// StopReason says why the server has stopped a webhook.
type StopReason string

// The reasons.
const (
	StoppedGone        StopReason = "Gone"               // the receiver answered 410
	StoppedDeadLetters StopReason = "TooManyDeadLetters" // there are MaxDeadLetters
	StoppedRestored    StopReason = "Restored"           // the database was restored: another one may be sending
)

// MaxDeadLetters is how many deliveries of a webhook are given up before it is stopped.
const MaxDeadLetters = 100

// State is Delivering, Retrying, Paused or Stopped.
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

// Unserved reports whether the server failed to serve the webhook the last time that it had it.
func (w Webhook) Unserved() bool {
	return w.Progress.Error != nil && w.Progress.Error.Reason == ReasonUnserved
}

// Sends reports whether something is to be sent.
func (w Webhook) Sends() bool { return !w.Spec.Paused && w.Stopped == "" }

// Wake has the next server that may look at a webhook, at a time: at once, or when the one that has it gives it back.
func (w *Webhook) Wake(at time.Time) {
	if w.Lease.IsZero() {
		w.DueAt = at
	}
}

// Delivery is what is being sent to a webhook, or could not be delivered. Its id is what the receiver knows it by.
type Delivery struct {
	ID        ID
	Region    string
	ProjectID ID
	WebhookID ID
	Cursor    string // behind it
	Message   []byte
	Attempts  int
	BeganAt   time.Time
	Error     *SendError
	DeadAt    time.Time // when it was given up; zero: it was not
	Retry     bool      // once more, although it was given up
}
