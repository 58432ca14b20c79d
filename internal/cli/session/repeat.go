package session

import (
	"errors"
	"net/http"
	"time"

	"github.com/carve-ipam/carve/client"
)

// Bounds of repeating. With these a server may be away for about two seconds, as it is when it restarts.
const (
	attempts     = 4
	firstPause   = 250 * time.Millisecond
	longestPause = 10 * time.Second // of what Retry-After may ask for
)

// repeater sends a request again where that is safe and may help, and says so. What is safe is the client's to know.
func (p *Program) repeater(next *http.Client) client.Repeater {
	return client.Repeater{Next: next, Policy: client.RetryPolicy{
		Attempts: attempts, FirstPause: firstPause, LongestPause: longestPause, Pause: p.Pause,
		OnRepeat: func(r client.Repeat) {
			if p.Hushed {
				return
			}
			p.Remark("%s; trying again (%d of %d)", r.Reason, r.Attempt+1, attempts)
		},
	}}
}

// Unsettled reports whether a request ended without anybody knowing whether it was carried out.
func Unsettled(err error) bool {
	if n, ok := errors.AsType[*noAnswer](err); ok {
		return n.sent
	}
	r, ok := errors.AsType[*Refusal](err)
	return ok && (r.Code == client.ProblemCodeOutcomeUnknown || r.Code == client.ProblemCodeDeadline)
}
