package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/ipam"
)

// project is the tenant that every run uses.
const project = "acme"

// request is one HTTP request.
type request struct {
	method, path string
	body         any
	key          string // Idempotency-Key
	token        string // API key; empty in development mode, which accepts requests without a key
	patience     time.Duration
}

// answer is the response to a request. err is set when no response came.
type answer struct {
	status   int
	body     []byte
	replayed bool
	code     ipam.Code // code of the problem document
	err      error
}

// meaning is the effect of a request, as far as the response proves that effect.
type meaning int

const (
	succeeded meaning = iota
	refused           // nothing changed, because of the request itself
	unchanged         // nothing changed, for another reason
	unsure            // the request may have taken effect
)

func (a answer) meaning() meaning {
	switch {
	case a.err != nil, a.code == ipam.CodeOutcomeUnknown, a.code == ipam.CodeDeadline:
		return unsure
	case a.status < 300:
		return succeeded
	case a.code == ipam.CodeContention, a.code == ipam.CodeUnavailable:
		return unchanged
	default:
		return refused
	}
}

// underWay reports whether a server may still be working on the request after this response.
func (a answer) underWay() bool {
	return a.err != nil && !errors.Is(a.err, errNotSent) || a.code == ipam.CodeDeadline
}

// errNotSent reports that no server accepted a connection, so the request was not sent.
var errNotSent = errors.New("no connection")

// fiveHundreds lists the problem codes that the service may send with each 5xx status.
var fiveHundreds = map[int][]ipam.Code{
	http.StatusServiceUnavailable: {ipam.CodeContention, ipam.CodeUnavailable, ipam.CodeOutcomeUnknown},
	http.StatusGatewayTimeout:     {ipam.CodeDeadline},
}

// inner matches internal words, such as SQLSTATEs and driver errors. No error response may contain them.
var inner = regexp.MustCompile(`(?i)sqlstate|\b40001\b|\b40003\b|\b57p0|\bxxuuu\b|pgx|pgconn|pgfault|restart transaction|conn closed|unexpected eof|deadlock detected|could not serialize|dial (tcp|unix)|broken pipe|reset by peer|context (deadline|canceled)|panic|goroutine`)

// improper checks for faults that no response may have, whatever the request. It returns a description of the fault, or "".
func (a answer) improper() string {
	switch {
	case a.err != nil:
		return ""
	case a.status >= 500 && !slices.Contains(fiveHundreds[a.status], a.code):
		return "a 5xx that is not typed"
	case a.status >= 300 && inner.Match(a.body):
		return "an answer that speaks of the inside"
	case a.status >= 300 && a.code == "":
		return "a refusal without a code"
	}
	return ""
}

// caller sends the requests of all clients.
type caller struct{ http *http.Client }

func newCaller(connections int) *caller {
	return &caller{&http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: connections, DialContext: (&net.Dialer{Timeout: time.Second}).DialContext,
	}}}
}

func (c *caller) close() { c.http.CloseIdleConnections() }

// do sends a request to a region's server. It waits for the response at most for the request's patience.
func (c *caller) do(ctx context.Context, r *region, q request) answer {
	ctx, cancel := context.WithTimeout(ctx, q.patience)
	defer cancel()
	var body io.Reader
	if q.body != nil {
		text, err := json.Marshal(q.body)
		if err != nil {
			return answer{err: err}
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, q.method, "http://"+*r.addr.Load()+q.path, body)
	if err != nil {
		return answer{err: err}
	}
	req.GetBody = nil // net/http must not repeat a lost request: the harness counts and judges each attempt
	req.Header.Set("Accept", "application/json, application/problem+json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if q.token != "" {
		req.Header.Set("Authorization", "Bearer "+q.token)
	}
	if q.key != "" {
		req.Header["Idempotency-Key"] = []string{q.key}
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
			return answer{err: errors.Join(errNotSent, err)}
		}
		return answer{err: err}
	}
	defer resp.Body.Close()
	a := answer{status: resp.StatusCode, replayed: resp.Header.Get("Idempotency-Replayed") == "true"}
	if a.body, err = io.ReadAll(resp.Body); err != nil {
		return answer{err: err}
	}
	if a.status >= 300 {
		var p client.Problem
		if err := json.Unmarshal(a.body, &p); err == nil {
			a.code = ipam.Code(p.Code)
		}
	}
	return a
}
