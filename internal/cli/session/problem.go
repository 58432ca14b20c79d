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
	policy     string // the policy of the rate limit
	credential string // the credential that was sent, if the server refused it
}

// refused reads a refusal. A response without a problem document is not from Carve. It may be from a proxy.
func refused(resp *http.Response, body []byte) error {
	r := &Refusal{
		Status: resp.StatusCode, requestID: resp.Header.Get("X-Request-Id"),
		retryAfter: resp.Header.Get("Retry-After"), policy: resp.Header.Get("RateLimit-Policy"),
	}
	if mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); mediaType != "application/problem+json" {
		return foreign(resp, body)
	}
	if err := json.Unmarshal(body, &r.Problem); err != nil || r.Code == "" {
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

// Error returns the sentence of the refusal. Below it, each detail has a line, such as the code, the figures, the positions and the ids.
func (r *Refusal) Error() string {
	var b strings.Builder
	b.WriteString(show.Clean(r.Detail))
	line := func(what, value string) {
		if value != "" {
			fmt.Fprintf(&b, "\n  %-15s %s", show.Clean(what)+":", show.Clean(value))
		}
	}
	line("code", fmt.Sprintf("%s (%d)", r.Code, r.Status))
	line("class", r.Class)
	line("missing roles", strings.Join(r.MissingRoles, ", "))
	line("wanted", show.PrefixLengthText(r.WantedPrefixLength))
	if exhausted(r.Code) && r.LargestFreePrefixLength == nil {
		line("largest free", "none, nothing is free")
	}
	line("largest free", show.PrefixLengthText(r.LargestFreePrefixLength))
	line("free addresses", r.AvailableAddresses)
	line("cooling down", r.CoolingDownAddresses)
	line("cooled down at", show.TimeText(r.CooledDownAt))
	if a := r.AllowedPrefixLengths; a != nil {
		line("allowed", fmt.Sprintf("/%d to /%d", a.Min, a.Max))
	}
	line("pools tried", strings.Join(r.PoolsTried, ", "))
	line("fitting", show.Number(r.Fitting))
	line("claims", show.Number(r.Claims))
	line("consumers", show.Number(r.Consumers))
	line("retained", show.Number(r.Retained))
	if r.Claims != nil && *r.Claims > 0 && r.Code == client.ProblemCodeInUse {
		line("to release", "'ipamctl release --pool POOL' releases the claims of a pool")
	}
	line("child pools", show.Number(r.ChildPools))
	line("pools", show.Number(r.Pools))
	line("spaces", show.Number(r.Spaces))
	line("conflicts with", strings.Join(r.ConflictsWith, ", "))
	line("current ETag", r.CurrentETag)
	line("quota", r.Quota)
	if r.Limit != "" {
		line("limit", strings.TrimSpace(r.Limit+" "+string(r.Measure)))
	}
	line("used", r.Used)
	line("requested", r.Requested)
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

// fewSteps is the number of decision steps that a refusal shows. `claim explain` shows all steps.
const fewSteps = 5

// exhausted reports whether a code means that there is not enough free space.
func exhausted(code client.ProblemCode) bool {
	return code == client.ProblemCodePoolExhausted || code == client.ProblemCodeExhaustedByCooldown
}

// policyText formats a rate limit for people. The header has a form such as `"writes";q=200;w=2`.
func policyText(header string) string {
	m := regexp.MustCompile(`^"(\w+)";q=(\d+);w=(\d+)$`).FindStringSubmatch(header)
	if m == nil {
		return header
	}
	return m[2] + " " + m[1] + " in " + m[3] + " s"
}

// foreignError is the error for a response that does not follow the contract.
type foreignError struct {
	text   string
	status int
}

// foreign returns a foreignError that quotes the beginning of the response.
func foreign(resp *http.Response, body []byte) error {
	const most = 200
	begin := show.Clean(strings.ToValidUTF8(string(body[:min(len(body), most)]), "?"))
	what := resp.Status
	if t := resp.Header.Get("Content-Type"); t != "" {
		what += ", " + t
	}
	text := fmt.Sprintf("%s does not respond like a Carve server (%s)", origin(resp), show.Clean(what))
	if to, err := resp.Location(); err == nil {
		return &foreignError{text: text + "; it redirects to " + to.Redacted() + ", which ipamctl does not follow", status: resp.StatusCode}
	}
	if begin != "" {
		text += ": " + begin
	}
	return &foreignError{text: text, status: resp.StatusCode}
}

func origin(resp *http.Response) string {
	if resp.Request == nil {
		return "the server"
	}
	return resp.Request.URL.Scheme + "://" + resp.Request.URL.Host
}

func (e *foreignError) Error() string { return e.text }
func (e *foreignError) ExitCode() int { return exit.CodeOfStatus(e.status) }

// keyedError is the error for a write that may succeed after a retry, or whose outcome is unknown. It has the idempotency key for the retry.
type keyedError struct {
	error
	key string
}

// keyed adds the idempotency key to the error of a write, if a retry can make the outcome known.
func keyed(err error, key string, w Writing) error {
	var n *noAnswer
	if exit.CodeOf(err) != exit.Unavailable || w.DryRun || w.Again || errors.As(err, &n) && !n.sent {
		return err
	}
	return &keyedError{error: err, key: key}
}

func (e *keyedError) Error() string {
	return e.error.Error() + "\nTo retry safely, run it again with: --idempotency-key " + e.key
}

func (e *keyedError) Unwrap() error { return e.error }
