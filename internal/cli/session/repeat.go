package session

import (
	"errors"
	"net/http"

	"github.com/carve-ipam/carve/client"
)

// repeater returns a client that retries requests and prints a remark before each retry. The client library decides whether a retry is safe and
// useful, and computes the pauses. All attempts together must end within --timeout.
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

// Unsettled reports whether the outcome of a request is unknown.
func Unsettled(err error) bool {
	if n, ok := errors.AsType[*noAnswer](err); ok {
		return n.sent
	}
	r, ok := errors.AsType[*Refusal](err)
	return ok && (r.Code == client.ProblemCodeOutcomeUnknown || r.Code == client.ProblemCodeDeadline)
}
