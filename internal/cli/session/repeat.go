package session

import (
	"errors"
	"net/http"

	"github.com/carve-ipam/carve/client"
)

// repeater returns a client that retries requests where a retry is safe and useful, and prints a remark. The client library decides on retries and
// pauses; all attempts together have the time of --timeout.
func (p *Program) repeater(next *http.Client) client.Repeater {
	policy := client.DefaultRetry()
	policy.AttemptTimeout, policy.Pause = 0, p.Pause
	policy.OnRepeat = func(r client.Repeat) {
		if p.Hushed {
			return
		}
		p.Remark("%s; trying again (%d of %d)", r.Reason, r.Attempt+1, policy.Attempts)
	}
	return client.Repeater{Next: next, Policy: policy}
}

// Unsettled reports whether a request ended with an unknown outcome.
func Unsettled(err error) bool {
	if n, ok := errors.AsType[*noAnswer](err); ok {
		return n.sent
	}
	r, ok := errors.AsType[*Refusal](err)
	return ok && (r.Code == client.ProblemCodeOutcomeUnknown || r.Code == client.ProblemCodeDeadline)
}
