// Package limits bounds what is asked: how often, by whom, at what cost, and how much at once. What is refused is told when to come again.
package limits

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/ratelimit"
)

// Limits is how often somebody may ask. nil: as often as they like.
type Limits struct {
	Reads     *ratelimit.Limiter // by caller
	Writes    *ratelimit.Limiter // by caller
	Anonymous *ratelimit.Limiter // requests without valid credentials, by client address
	Work      *ratelimit.Limiter // by caller: what requests cost (tenancy.Work)
	Project   *ratelimit.Limiter // by project: the same, of all its callers together
	Refusals  *ratelimit.Limiter // refusals for want of rights that are recorded, by caller; all keys of a project are one
	Memory    *Memory            // by caller, by project and of all: what answers hold
}

// Rates is Limits in numbers: so many a second; 0 is no limit.
type Rates struct{ Reads, Writes, Anonymous, Work, Project int }

// DefaultRates let everybody do what programs do who mean no harm (budget_defaults_test.go).
var DefaultRates = Rates{Reads: 500, Writes: 200, Anonymous: 20, Work: 25000, Project: 50000}

// workWindow is how many seconds' worth may be spent on work at once: enough to read 100,000 claims page by page, as a program does at its
// start, however fast the pages come.
const workWindow = 4

// Limits makes the limiters. clock nil: the system clock.
func (r Rates) Limits(clock func() time.Time) Limits {
	often, seldom := ratelimit.Options{Clock: clock}, ratelimit.Options{Clock: clock, Window: workWindow}
	return Limits{
		Reads:     ratelimit.New("reads", r.Reads, often),
		Writes:    ratelimit.New("writes", r.Writes, often),
		Anonymous: ratelimit.New("anonymous", r.Anonymous, often),
		Work:      ratelimit.New("work", r.Work, seldom),
		Project:   ratelimit.New(projectPolicy, r.Project, seldom),
		Refusals:  ratelimit.New("refusals", (r.Writes+19)/20, often), // a twentieth: of 200 writes a second, 10 records
		Memory:    NewMemory(answersHold),
	}
}

// Describe writes the headers of draft-ietf-httpapi-ratelimit-headers: structured fields (RFC 9651) with a quota of q
// requests in a window of w seconds, of which r are left; in t seconds there are more.
func Describe(h http.Header, d ratelimit.Decision) {
	var line [128]byte
	b := append(strconv.AppendInt(append(strconv.AppendQuote(line[:0], d.Policy), ";q="...), int64(d.Quota), 10), ";w="...)
	b = append(b, Seconds(d.Window)...)
	n := len(b)
	b = append(strconv.AppendInt(append(strconv.AppendQuote(b, d.Policy), ";r="...), int64(d.Remaining), 10), ";t="...)
	both := string(append(b, Seconds(d.RetryAfter)...))
	values := []string{both[:n], both[n:]}
	h[headerPolicy], h[headerLimit] = values[:1:1], values[1:]
}

// As net/http spells them.
const (
	headerPolicy = "Ratelimit-Policy"
	headerLimit  = "Ratelimit"
)

// Allow answers rate_limited when a decision does not allow.
func Allow(d ratelimit.Decision) error {
	if d.Allowed {
		return nil
	}
	e := ipam.Errorf(ipam.CodeRateLimited, "Too many requests: this one is over the limit %q. Repeat it when Retry-After has passed.", d.Policy)
	e.RetryAfter = d.RetryAfter
	return e
}

// Seconds rounds up: who repeats a moment too early is refused again.
func Seconds(d time.Duration) string { return strconv.Itoa(int(math.Ceil(d.Seconds()))) }
