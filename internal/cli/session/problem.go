package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// Refusal is the error for a request that the server refused. It has the server's problem document.
type Refusal struct {
	client.Problem
	Status     int
	requestID  string
	retryAfter string // seconds
	policy     string // the rate limit's policy
	credential string // the credential that was sent, if the server refused it
}

// refused reads a refusal. A response without a problem document is not from Carve. It may be from a proxy.
func refused(resp *http.Response, body []byte) error {
	r := &Refusal{
		Status: resp.StatusCode, requestID: resp.Header.Get("X-Request-Id"),
		retryAfter: resp.Header.Get("Retry-After"), policy: resp.Header.Get("RateLimit-Policy"),
	}
	mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if mediaType != "application/problem+json" || json.Unmarshal(body, &r.Problem) != nil || r.Code == "" {
		return foreign(resp, body)
	}
	return r
}

// ItemOf returns the index of the list item that a refusal is about. It uses the refusal's first JSON pointer into the list.
func ItemOf(err error, list string) (index int, is bool) {
	r, ok := errors.AsType[*Refusal](err)
	if !ok {
		return 0, false
	}
	for _, e := range r.Errors {
		if rest, inside := strings.CutPrefix(e.Pointer, "/"+list+"/"); inside {
			at, _, _ := strings.Cut(rest, "/")
			index, err := strconv.Atoi(at)
			return index, err == nil && index >= 0
		}
	}
	return 0, false
}

// RetryAfter returns the pause that the server asks for.
func (r *Refusal) RetryAfter() time.Duration {
	seconds, _ := strconv.Atoi(r.retryAfter) // a text that is not a number counts as 0
	return time.Duration(seconds) * time.Second
}

// Unwrap returns the problem document, so that errors.As finds it as in the errors of the client library.
func (r *Refusal) Unwrap() error { return &r.Problem }

// ExitCode returns the exit code for the HTTP status.
func (r *Refusal) ExitCode() int { return exit.CodeOfStatus(r.Status) }

// Error returns the refusal's sentence. Below it, each detail has a line, such as the code, the figures, the positions and the ids.
func (r *Refusal) Error() string {
	var b strings.Builder
	b.WriteString(show.Clean(r.Detail))
	line := func(what, value string) {
		if value != "" {
			fmt.Fprintf(&b, "\n  %-15s %s", show.Clean(what)+":", show.Clean(value))
		}
	}
	line("code", fmt.Sprintf("%s (%d)", r.Code, r.Status))
	for _, c := range figures {
		line(c.Title, c.Cell(r.Problem))
	}
	if r.Status == http.StatusTooManyRequests { // other responses have the policy too, but it does not matter for them
		line("rate limit", policyText(r.policy))
	}
	if r.retryAfter != "" {
		line("try again in", r.retryAfter+" s")
	}
	line("credential", r.credential)
	for _, e := range r.Errors {
		line("at "+e.Pointer, e.Detail)
	}
	for _, s := range r.Steps[:min(len(r.Steps), fewSteps)] {
		if s.Detail != r.Detail { // the first line already has this text
			line(string(s.Outcome), string(s.Kind)+" "+s.Name+": "+s.Detail)
		}
	}
	if more := len(r.Steps) - fewSteps; more > 0 {
		line("and", show.CountOf(more, "step")+" more; 'ipamctl claim explain' with the same flags shows all steps")
	}
	line("request", r.requestID)
	if r.TraceID != r.requestID {
		line("trace", r.TraceID)
	}
	return b.String()
}

// figures has the lines for a refusal's figures. Error omits a line without a value.
var figures = show.Columns(`
	class: class
	missing roles: missing
	wanted: wantedPrefixLength
	largest free: largest
	free addresses: availableAddresses
	cooling down: coolingDownAddresses
	cooled down at: cooledDownAt
	allowed: allowed
	pools tried: tried
	fitting: fitting
	claims: claims
	consumers: consumers
	retained: retained
	to release: release
	child pools: childPools
	pools: pools
	spaces: spaces
	conflicts with: conflicts
	current ETag: currentETag
	quota: quota
	limit: limits
	used: used
	requested: requested`, show.Cells[client.Problem]{
	"missing":   func(p client.Problem) string { return show.JoinComma(p.MissingRoles) },
	"tried":     func(p client.Problem) string { return show.JoinComma(p.PoolsTried) },
	"conflicts": func(p client.Problem) string { return show.JoinComma(p.ConflictsWith) },
	"largest": func(p client.Problem) string {
		if client.IsExhausted(&p) && p.LargestFreePrefixLength == nil {
			return "none, nothing is free"
		}
		return show.PrefixLengthText(p.LargestFreePrefixLength)
	},
	"allowed": func(p client.Problem) string {
		if p.AllowedPrefixLengths == nil {
			return ""
		}
		return fmt.Sprintf("/%d to /%d", p.AllowedPrefixLengths.Min, p.AllowedPrefixLengths.Max)
	},
	"release": func(p client.Problem) string {
		if p.Code != client.ProblemCodeInUse || p.Claims == nil || *p.Claims == 0 {
			return ""
		}
		return "'ipamctl release --pool POOL' releases the claims of a pool"
	},
	"limits": func(p client.Problem) string {
		if p.Limit == "" {
			return ""
		}
		return show.Words(p.Limit, string(p.Measure))
	},
})

// fewSteps limits the decision steps that a refusal shows. `claim explain` shows all steps.
const fewSteps = 5

// policyText formats a rate limit for people. The header has a form such as `"writes";q=200;w=2`.
func policyText(header string) string {
	m := regexp.MustCompile(`^"(\w+)";q=(\d+);w=(\d+)$`).FindStringSubmatch(header)
	if m == nil {
		return header
	}
	return m[2] + " " + m[1] + " in " + m[3] + " s"
}

// foreign returns the error for a response that does not follow the contract. It quotes the beginning of the response.
func foreign(resp *http.Response, body []byte) error {
	const limit = 200
	begin := show.Clean(strings.ToValidUTF8(string(body[:min(len(body), limit)]), "?"))
	what := resp.Status
	if t := resp.Header.Get("Content-Type"); t != "" {
		what += ", " + t
	}
	text := fmt.Sprintf("%s does not respond like a Carve server (%s)", origin(resp), show.Clean(what))
	if to, err := resp.Location(); err == nil {
		text += "; it redirects to " + to.Redacted() + ", which ipamctl does not follow"
	} else if begin != "" {
		text += ": " + begin
	}
	return exit.Endf(exit.CodeOfStatus(resp.StatusCode), "%s", text)
}

func origin(resp *http.Response) string {
	if resp.Request == nil {
		return "the server"
	}
	return resp.Request.URL.Scheme + "://" + resp.Request.URL.Host
}

// keyed adds the idempotency key to the error of a write, if a retry can make the outcome known.
func keyed(err error, key string, w Writing) error {
	var n *noAnswer
	if exit.CodeOf(err) != exit.Unavailable || w.DryRun || w.Again || errors.As(err, &n) && !n.sent {
		return err
	}
	return fmt.Errorf("%w\nTo retry safely, run it again with: --idempotency-key %s", err, key)
}
