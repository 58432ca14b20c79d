package cli

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/carve-ipam/carve/client"
)

// Bounds of repeating. With these a server may be away for about two seconds, as it is when it restarts.
const (
	attempts     = 4
	firstPause   = 250 * time.Millisecond
	longestPause = 10 * time.Second // of what Retry-After may ask for
)

// repeater sends a request again where that is safe and may help: after a lost connection, 429 and 503.
//
// Always safe are GET, a PUT without If-Match, which says how something is to be, a PATCH of whichever revision is current,
// which says how parts of it are to be, and a POST with an Idempotency-Key. Once an attempt may have been carried out, others
// are not: a DELETE without If-Match, which would delete what was made under that name meanwhile, and a PUT or a PATCH of one
// revision, which would be refused for its own success.
type repeater struct {
	next  client.HttpRequestDoer
	pause func(ctx context.Context, d time.Duration) error
	say   func(format string, args ...any)
}

// Do implements client.HttpRequestDoer.
func (r repeater) Do(req *http.Request) (*http.Response, error) {
	carried := false // an attempt may have been carried out although its answer was lost
	for attempt := 1; ; attempt++ {
		resp, err := r.next.Do(req)
		if err == nil && carried && req.Method == http.MethodDelete && resp.StatusCode == http.StatusNotFound {
			return gone(resp), nil
		}
		reason, again := worthRepeating(resp, err)
		wait := pauseBefore(attempt, resp)
		if !again || attempt == attempts || !repeatable(req) || !timeFor(req.Context(), wait) {
			return resp, uncertain(err, carried)
		}
		done, resp := mayBeDone(resp, err)
		if carried = carried || done; carried && !safeTwice(req) {
			return resp, uncertain(err, carried)
		}
		r.say("%s; trying again (%d of %d)", reason, attempt+1, attempts)
		if err := r.pause(req.Context(), wait); err != nil {
			return nil, uncertain(err, carried)
		}
		if req, err = replay(req); err != nil {
			return nil, uncertain(err, carried)
		}
	}
}

// worthRepeating says why a repeat may have a better end.
func worthRepeating(resp *http.Response, err error) (reason string, again bool) {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), strange(err):
		return "", false
	case err != nil && harmless(err):
		return "the server cannot be reached", true
	case err != nil:
		return "the connection was lost", true
	case resp.StatusCode == http.StatusServiceUnavailable, resp.StatusCode == http.StatusTooManyRequests:
		return fmt.Sprintf("the server said %d, not now", resp.StatusCode), true
	default:
		return "", false
	}
}

// harmless reports whether a request surely had no effect: it never left.
func harmless(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial" || strange(err)
}

// strange reports whether there is somebody who cannot be talked to: an unknown certificate, TLS with who has none.
func strange(err error) bool {
	_, unverified := errors.AsType[*tls.CertificateVerificationError](err)
	return unverified || errors.Is(err, http.ErrSchemeMismatch)
}

// mayBeDone reports whether an attempt that failed may nevertheless have been carried out: its connection was lost on the
// way, or the server says that it does not know. It reads the answer to its end, and hands it back as it was.
func mayBeDone(resp *http.Response, err error) (bool, *http.Response) {
	if err != nil {
		return !harmless(err), resp
	}
	defer resp.Body.Close()
	text, cut := io.ReadAll(resp.Body)
	resp.Body = io.NopCloser(bytes.NewReader(text))
	var p client.Problem
	_ = json.Unmarshal(text, &p) // not a problem document: from something before the server, which did nothing
	return cut != nil || p.Code == client.ProblemCodeOutcomeUnknown, resp
}

// safeTwice reports whether a request may be carried out twice.
func safeTwice(req *http.Request) bool {
	tag := req.Header.Get("If-Match")
	conditional := tag != ""
	switch req.Method {
	case http.MethodPatch:
		return tag == "*" || req.URL.Query().Get("dryRun") == "true"
	case http.MethodDelete:
		return conditional || req.URL.Query().Get("dryRun") == "true"
	case http.MethodPut:
		return !conditional || req.URL.Query().Get("dryRun") == "true"
	default:
		return true
	}
}

// unsettled reports whether a request ended without anybody knowing whether it was carried out.
func unsettled(err error) bool {
	if n, ok := errors.AsType[*noAnswer](err); ok {
		return n.sent
	}
	r, ok := errors.AsType[*refusal](err)
	return ok && (r.Code == client.ProblemCodeOutcomeUnknown || r.Code == client.ProblemCodeDeadline)
}

// uncertainError is the end of a request of which an earlier attempt may have been carried out.
type uncertainError struct{ error }

func (e uncertainError) Unwrap() error { return e.error }

func uncertain(err error, carried bool) error {
	if err == nil || !carried {
		return err
	}
	return uncertainError{err}
}

func repeatable(req *http.Request) bool {
	switch req.Method {
	case http.MethodGet, http.MethodHead, http.MethodPut, http.MethodPatch, http.MethodDelete:
	case http.MethodPost:
		if req.Header.Get("Idempotency-Key") == "" {
			return false
		}
	default:
		return false
	}
	return req.Body == nil || req.GetBody != nil
}

// pauseBefore is how long to wait after an attempt: twice as long each time, half of it by chance so that many who were
// refused together do not come back together, and not less than the server asks for.
func pauseBefore(attempt int, resp *http.Response) time.Duration {
	d := firstPause << (attempt - 1)
	d = d/2 + rand.N(d/2) //nolint:gosec // a pause guards nothing
	if resp != nil {
		if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
			d = max(d, min(time.Duration(seconds)*time.Second, longestPause))
		}
	}
	return d
}

// timeFor reports whether the request's time outlasts a pause; if not, the answer at hand is better than none.
func timeFor(ctx context.Context, wait time.Duration) bool {
	deadline, bounded := ctx.Deadline()
	return !bounded || time.Until(deadline) > wait
}

// replay is the same request, with its body from the start.
func replay(req *http.Request) (*http.Request, error) {
	next := req.Clone(req.Context())
	if req.GetBody == nil {
		return next, nil
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, err
	}
	next.Body = body
	return next, nil
}

// gone turns the 404 of a repeated DELETE into the 204 that was lost: an earlier attempt has deleted the thing, or somebody
// else has meanwhile. Either way it is as the caller wanted it.
func gone(resp *http.Response) *http.Response {
	_ = resp.Body.Close()
	resp.StatusCode, resp.Status = http.StatusNoContent, "204 No Content"
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(nil)), 0
	return resp
}
