package webhook

import (
	"net/http"
	"strconv"
	"time"
)

// Why a delivery failed.
const (
	Unresolved  = "unresolved"  // the name has no address that deliveries may go to
	Unreachable = "unreachable" // no connection came about, or it broke
	Timeout     = "timeout"     // no answer in time, or the caller's context ended
	TLS         = "tls"         // no connection that can be trusted: its certificate, its version
	Status      = "status"      // an answer that is no success
	Redirect    = "redirect"    // an answer that names another address
)

// longestRetryAfter is how long a receiver may put a delivery off.
const longestRetryAfter = time.Hour

// Outcome is how a delivery ended.
type Outcome struct {
	Status     int           // of the answer; 0: there was none
	Reason     string        // one of the words above; empty: delivered
	Gone       bool          // the receiver wants no delivery any more (410)
	RetryAfter time.Duration // how long the receiver asks to wait, an hour at most; 0: it does not say
}

// Delivered reports whether the receiver has taken the delivery.
func (o Outcome) Delivered() bool { return o.Status/100 == 2 }

// outcomeOf reads an answer to what was sent at a time.
func outcomeOf(answer *http.Response, sent time.Time) Outcome {
	o := Outcome{Status: answer.StatusCode}
	switch o.Status / 100 {
	case 2:
		return o
	case 3:
		o.Reason = Redirect
	default:
		o.Reason = Status
	}
	o.Gone = o.Status == http.StatusGone
	o.RetryAfter = retryAfter(answer.Header.Get("Retry-After"), sent)
	return o
}

// retryAfter reads seconds or a date: RFC 9110, 10.2.3.
func retryAfter(text string, sent time.Time) time.Duration {
	var wait time.Duration
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if date, err := http.ParseTime(text); err == nil {
		wait = date.Sub(sent)
	}
	return min(max(wait, 0), longestRetryAfter)
}
