package webhook

import (
	"net/http"
	"strconv"
	"time"
)

// Reasons for failed deliveries.
const (
	Unresolved  = "unresolved"  // the name has no allowed address
	Unreachable = "unreachable" // no connection, or it broke
	Timeout     = "timeout"     // no response in time, or the caller's context ended
	TLS         = "tls"         // no trusted connection, because of the certificate or the TLS version
	Status      = "status"      // a response other than success
	Redirect    = "redirect"    // a redirect to another address
)

// longestRetryAfter is the longest delay that a receiver may ask for.
const longestRetryAfter = time.Hour

// Outcome is a delivery's result.
type Outcome struct {
	Status     int           // the response's status; 0: no response
	Reason     string        // a reason above; "": delivered
	Gone       bool          // the receiver wants no more deliveries (410)
	RetryAfter time.Duration // the delay that the receiver asks for, at most an hour; 0: none
}

// Delivered reports whether the receiver has accepted the delivery.
func (o Outcome) Delivered() bool { return o.Status/100 == 2 }

// outcomeOf returns a response's outcome. sent is the time of the delivery.
func outcomeOf(response *http.Response, sent time.Time) Outcome {
	o := Outcome{Status: response.StatusCode}
	switch o.Status / 100 {
	case 2:
		return o
	case 3:
		o.Reason = Redirect
	default:
		o.Reason = Status
	}
	o.Gone = o.Status == http.StatusGone
	o.RetryAfter = retryAfter(response.Header.Get("Retry-After"), sent)
	return o
}

// retryAfter parses the header Retry-After, which contains seconds or a date (RFC 9110, 10.2.3).
func retryAfter(text string, sent time.Time) time.Duration {
	var wait time.Duration
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if date, err := http.ParseTime(text); err == nil {
		wait = date.Sub(sent)
	}
	return min(max(wait, 0), longestRetryAfter)
}
