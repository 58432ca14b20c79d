package chaos

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/carve-ipam/carve/lab/consistency"
)

// Violation is one failed check.
//
//	answer       a response that no request may get: an untyped 5xx, words of the driver, a refusal without a reason
//	cooled       a block is handed out before its pool's reuseAfter has passed, or is still withheld long after
//	heldup       a stopped server blocks a pool for the other servers longer than allowed
//	history      the history of an address differs from the times at which clients held it
//	keys         an API key is refused before it expires, accepted afterwards, or opens a project other than its own
//	trail        the audit trail omits a change or records it at another time
//	audit        the stored data are inconsistent
//	attempts     transactions are attempted more often than the budget allows
//	fenced       a region draws from rows that were restored without its loan records
//	halves       only a part of a batch exists
//	leaked       the database stores an object that no client knows
//	linearizable no order of the operations on a pool explains all responses
//	lost         an acknowledged object is missing
//	stale        a plan was out of date when it ran, although its locks exclude all other writers
//	starved      a request gives up while the database is well and other requests succeed
//	repeat       a repeat by key gets another response than the first request, or gets one although the claim was released
//	twice        two requests got one name
//	told         the stored object differs from the response to the client
//	unreachable  an unacknowledged object cannot be reached by its key or name
//	unusable     a pool cannot be emptied and handed out as a whole
//	herd         a claim is not released exactly once by its last consumer; or a consumer comes back, or ends early (package herd)
//	heirs        a response shows a deleted object although another object has its name (package heirs)
//	harness      the harness could not do its work
type Violation struct {
	Check  string
	About  string // label, pool or operation
	Detail string
}

func (v Violation) String() string { return fmt.Sprintf("%s: %s: %s", v.Check, v.About, v.Detail) }

// audit runs `ipamctl audit`.
func (run *run) audit(ctx context.Context, when string) error {
	out, err := run.cluster.ipamctl(ctx, "audit", "--database-url="+run.db.dsn)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		run.ledger.violated("audit", "", "%s: %v\n%s", when, err, out)
	}
	return nil
}

// judging limits the search for a valid order of one pool's operations.
const judging = time.Minute

// linearizable checks each pool for an order of its operations that explains all responses.
func (run *run) linearizable(res *Result) {
	if run.plan.Weather.Restore { // a restore undoes acknowledged operations, so no order fits both them and the later ones
		return
	}
	var wg sync.WaitGroup
	verdicts := make([]consistency.Verdict, len(run.plan.Pools))
	pools := slices.DeleteFunc(slices.Clone(run.plan.Pools), func(p Pool) bool { return !p.judged() })
	for i, p := range pools {
		wg.Go(func() { verdicts[i] = run.ledger.histories[p.Name].Check(judging) })
	}
	wg.Wait()
	for i, p := range pools {
		v := verdicts[i]
		for what, n := range run.ledger.histories[p.Name].Tally() {
			res.Tally[what] += n
		}
		switch {
		case v.Right():
			res.Judged += v.Operations
		case v.Wrong():
			detail := v.String()
			picture := filepath.Join(run.dir, p.Name+".html")
			if err := v.Draw(picture); err == nil {
				detail += "; " + picture + " shows it"
			}
			run.ledger.violated("linearizable", p.Name, "%s", detail)
		default:
			res.Unjudged += v.Operations
		}
	}
}

// budget compares the attempts of transactions and reads with the average that a request may cost (Mix.Attempts).
func (run *run) budget(res *Result) {
	run.attempts.mu.Lock()
	defer run.attempts.mu.Unlock()
	all := 0
	for end, n := range run.attempts.byEnd {
		all += n
		res.Tally["attempt: "+end] += n
	}
	res.Attempts = all
	if stale := run.attempts.stale; run.plan.Healthy && len(stale) > 0 {
		run.ledger.violated("stale", "", "plans that did not hit what they name, by transaction: %v, for %d requests", stale, run.requests.Load())
	}
	requests, idle := int(run.requests.Load()), int(run.attempts.uptime.Seconds())*idleAttempts
	if all > run.plan.Attempts*requests+idle || run.attempts.byEnd["again"] > run.plan.Repeats*requests {
		run.ledger.violated("attempts", "", "%d for %d requests and %v of uptime: %v", all, requests, run.attempts.uptime, run.attempts.byEnd)
	}
}

// attempts counts the transactions and reads that the servers attempted, by outcome. The counts come from the servers' metrics.
type attempts struct {
	mu    sync.Mutex
	byEnd map[string]int
	stale map[string]int // attempts that ended because a plan was out of date, by operation

	uptime time.Duration // sum over all servers
}

// idleAttempts limits the attempts of an idle server in one second: its jobs scan for eight kinds of work once a second.
const idleAttempts = 10

func newAttempts() *attempts { return &attempts{byEnd: map[string]int{}, stale: map[string]int{}} }

// starting is the SQLSTATE of a database that is starting. The number of attempts that meet it depends on the machine's load and shows nothing about
// the service.
const starting = "57P03"

var startLine = regexp.MustCompile(`^process_start_time_seconds ([0-9.e+]+)$`)

var attemptLine = regexp.MustCompile(`^carve_tx_attempts_total\{end="([^"]*)",op="([^"]*)",sqlstate="([^"]*)"\} ([0-9.e+]+)$`)

// scrape reads the metrics of a server that is about to end.
func (a *attempts) scrape(ctx context.Context, r *region) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+*r.addr.Load()+"/metrics", nil)
	if err != nil {
		return
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return // the caller kills it next
	}
	defer resp.Body.Close()
	a.mu.Lock()
	defer a.mu.Unlock()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if m := startLine.FindStringSubmatch(strings.TrimSpace(lines.Text())); m != nil {
			if started, err := strconv.ParseFloat(m[1], 64); err == nil {
				a.uptime += time.Since(time.UnixMilli(int64(started * 1000)))
			}
		}
		if m := attemptLine.FindStringSubmatch(strings.TrimSpace(lines.Text())); m != nil {
			n, err := strconv.ParseFloat(m[4], 64)
			if err != nil {
				continue
			}
			if m[3] == starting {
				continue
			}
			a.byEnd[m[1]] += int(n)
			if m[1] == "again" && m[3] == "" { // no SQLSTATE: a statement did not affect the rows that it names
				a.stale[m[2]] += int(n)
			}
		}
	}
}
