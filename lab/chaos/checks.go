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
//	answer       a response has a fault that no response may have: an untyped 5xx, internal words or a refusal without a code
//	cooled       a block is handed out before its pool's reuseAfter has passed, or is still withheld long afterwards
//	heldup       a stopped server blocks a pool for the other servers longer than allowed
//	history      the history of an address differs from the times at which clients held it
//	keys         an API key is refused before it expires, accepted afterwards, or opens a project other than its own
//	trail        the audit trail omits a change or records it at another time
//	audit        the stored data are inconsistent
//	attempts     the servers attempt transactions more often than the budget allows (Mix.Attempts, Mix.Repeats)
//	fenced       a region serves a pool from restored rows although its loan records are of another time
//	halves       only a part of a batch exists
//	leaked       the database stores an object that no client requested
//	linearizable no order of the operations on a pool explains all responses
//	lost         an acknowledged object is missing
//	stale        a plan was out of date when it ran, although its locks exclude all other writers
//	starved      a request gives up although the database works and other requests succeed
//	repeat       a repeat with the same Idempotency-Key gets another response than the first request, or gets
//	             the first response although the claim was released
//	twice        two requests made an object with the same name
//	told         the stored object differs from the object in the response to the client
//	unreachable  an object of an unanswered request cannot be reached by its key or name
//	unusable     after all releases, a pool cannot be claimed as a whole
//	herd         the last consumer of a claim does not release it exactly once, or a consumer returns or ends
//	             too early (package herd)
//	heirs        a response shows a deleted object although another object has its name (package heirs)
//	harness      the harness could not do its work
type Violation struct {
	Check  string
	About  string // label, pool or operation
	Detail string
}

func (v Violation) String() string { return fmt.Sprintf("%s: %s: %s", v.Check, v.About, v.Detail) }

// audit runs `ipamctl audit`, which checks the stored data.
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

// judging limits the search for a valid order of one pool's operations. The search can take exponential time.
const judging = time.Minute

// linearizable searches, for each pool, an order of its operations that explains all responses. A pool without such an order is a violation.
func (run *run) linearizable(res *Result) {
	if run.plan.Weather.Restore { // a restore undoes acknowledged operations, so no order can explain all responses
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

// budget checks that the servers did not attempt transactions more often than the mix allows (Mix.Attempts, Mix.Repeats).
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
	stale map[string]int // attempts that failed because a plan was out of date, by operation

	uptime time.Duration // sum over all servers
}

// idleAttempts limits the attempts of an idle server in one second. Its jobs look for eight kinds of work once a second.
const idleAttempts = 10

func newAttempts() *attempts { return &attempts{byEnd: map[string]int{}, stale: map[string]int{}} }

// starting is the SQLSTATE of a database that is starting. The budget ignores attempts with this error, because their number depends only on the
// machine's load.
const starting = "57P03"

var startLine = regexp.MustCompile(`^process_start_time_seconds ([0-9.e+]+)$`)

var attemptLine = regexp.MustCompile(`^carve_tx_attempts_total\{end="([^"]*)",op="([^"]*)",sqlstate="([^"]*)"\} ([0-9.e+]+)$`)

// scrape adds the metrics of a server to the counts. The caller is about to end that server.
func (a *attempts) scrape(ctx context.Context, r *region) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+*r.addr.Load()+"/metrics", nil)
	if err != nil {
		return
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return // the caller kills the server next, so a server that does not respond is no fault
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
			if m[1] == "again" && m[3] == "" { // without an SQLSTATE, a statement did not affect the rows that it names
				a.stale[m[2]] += int(n)
			}
		}
	}
}
