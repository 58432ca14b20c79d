// Package limits limits requests by their rate, cost, number and memory, for each caller. Each error contains the time after which the caller may
// retry.
package limits

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/ratelimit"
)

// Limits are the rate limits. A nil field has no limit.
type Limits struct {
	Reads     *ratelimit.Limiter // by caller
	Writes    *ratelimit.Limiter // by caller
	Anonymous *ratelimit.Limiter // requests without valid credentials, by client address
	Work      *ratelimit.Limiter // by caller: cost (tenancy.Work)
	Project   *ratelimit.Limiter // by project: its callers' total cost
	Refusals  *ratelimit.Limiter // audit records about refused requests, by caller; a project's keys count as one caller
	Memory    *Memory            // by caller, by project and in total: memory for responses
}

// Rates are the limits as numbers per second. 0 means no limit.
type Rates struct{ Reads, Writes, Anonymous, Work, Project int }

// DefaultRates are high enough for every well-behaved program (budget_defaults_test.go).
var DefaultRates = Rates{Reads: 500, Writes: 200, Anonymous: 20, Work: 25000, Project: 50000}

// workWindow is the window for limits on work, in seconds. A caller may do the work of a whole window in one burst. With the default rates, a program
// that starts can read 100,000 claims page by page in one burst.
const workWindow = 4

// Limits returns the limiters. A nil clock is the system clock.
func (r Rates) Limits(clock func() time.Time) Limits {
	often, seldom := ratelimit.Options{Clock: clock}, ratelimit.Options{Clock: clock, Window: workWindow}
	return Limits{
		Reads:     ratelimit.New("reads", r.Reads, often),
		Writes:    ratelimit.New("writes", r.Writes, often),
		Anonymous: ratelimit.New("anonymous", r.Anonymous, often),
		Work:      ratelimit.New("work", r.Work, seldom),
		Project:   ratelimit.New(projectPolicy, r.Project, seldom),
		Refusals:  ratelimit.New("refusals", (r.Writes+19)/20, often), // a twentieth: 10 records for 200 writes a second
		Memory:    NewMemory(responseMemory),
	}
}

// Describe writes the headers that draft-ietf-httpapi-ratelimit-headers defines, as structured fields (RFC 9651). RateLimit-Policy means that q
// requests are allowed in w seconds. RateLimit means that r requests remain, and that more become available in t seconds.
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

// The header names, as net/http writes them.
const (
	headerPolicy = "Ratelimit-Policy"
	headerLimit  = "Ratelimit"
)

// Allow returns rate_limited if the limiter did not allow the request.
func Allow(d ratelimit.Decision) error {
	if d.Allowed {
		return nil
	}
	e := ipam.Errorf(ipam.CodeRateLimited, "Too many requests: this one is over the limit %q. Repeat it when Retry-After has passed.", d.Policy)
	e.RetryAfter = d.RetryAfter
	return e
}

// Seconds returns a duration in whole seconds. It rounds up, because a retry that comes a moment too early would be refused again.
func Seconds(d time.Duration) string { return strconv.Itoa(int(math.Ceil(d.Seconds()))) }
