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

// Violation is something that must not be.
//
//	answer       an answer that no request may get: an untyped 5xx, words of the driver, a refusal without reason
//	cooled       a block is handed out again before its pool's reuseAfter is over, or not when it long is
//	heldup       a server that stands still holds up a pool for the others for longer than it may
//	history      what the history of an address says is not when clients held it
//	keys         an API key is refused before it expires, or taken after, or opens another project than its own
//	trail        the audit trail leaves out what has happened, or says another time
//	audit        the stored data contradict themselves
//	attempts     transactions are tried more often than the budget allows
//	fenced       a region draws from rows that were restored without the record of its loans
//	halves       a part of a batch exists
//	leaked       something is stored that nobody was told of
//	linearizable no order of the operations of a pool makes all answers right
//	lost         something was acknowledged and is not there
//	stale        a plan was out of date when it was carried out, although its locks hold everybody else up
//	starved      a request gives up while the database is well and others get on
//	repeat       a repeat by key is not answered as the first request was, or is although the claim was released
//	twice        one name was given to two requests
//	told         what a client was told is not what is stored
//	unreachable  what was not acknowledged cannot be reached by its key or name
//	unusable     a pool cannot be emptied and handed out as a whole
//	herd         a claim is released other than once, by its last consumer; or a consumer comes back, or ends early (package herd)
//	heirs        a server answers by what had the name before it was deleted and made again (package heirs)
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

// judging bounds the search for an order of one pool's operations.
const judging = time.Minute

// linearizable asks for each pool whether an order of its operations makes all answers right.
func (run *run) linearizable(res *Result) {
	if run.plan.Weather.Restore { // what a restore takes back was answered rightly, and has no order with what came after
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

// budget holds the attempts of transactions and reads against what a request may cost on the average (Mix.Attempts).
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

// attempts are how often the servers tried transactions and reads, by how that ended, from their metrics.
type attempts struct {
	mu    sync.Mutex
	byEnd map[string]int
	stale map[string]int // those that ended because a plan was out of date, by what the transaction was for

	uptime time.Duration // of all servers
}

// idleAttempts bounds the attempts that a server makes in a second without a request: its jobs look once a second for eight kinds of work.
const idleAttempts = 10

func newAttempts() *attempts { return &attempts{byEnd: map[string]int{}, stale: map[string]int{}} }

// starting is the SQLSTATE of a database that is starting. How many attempts meet that says how long it takes, on a machine that has other things to do, and nothing of the service.
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
		return // it is being killed anyway
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
			if m[1] == "again" && m[3] == "" { // not the database's word: a statement did not hit what it names
				a.stale[m[2]] += int(n)
			}
		}
	}
}
