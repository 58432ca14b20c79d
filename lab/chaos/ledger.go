package chaos

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/lab/consistency"
)

// state is the state of a requested object, as clients know it.
type state string

const (
	isOpen      state = "open"      // no response, or none that proves the outcome
	isHeld      state = "held"      // it exists
	isAbsent    state = "absent"    // refused, with nothing changed
	isReleasing state = "releasing" // held; its release has no certain response
	isReleased  state = "released"
)

// entry is one requested object.
type entry struct {
	op     *Op
	index  int
	state  state
	name   string // name of the object, once known
	uid    string
	block  netip.Prefix
	refuse ipam.Code // code of a refusal that does not prove the outcome, because an earlier attempt may still be under way

	// tainted means that the request has no key and an attempt may still be under way. That attempt could make the object again after a release. So
	// the client does not release the object before the end of the run.
	tainted bool

	asked    *consistency.Call
	released *consistency.Call
	when     moments
}

// moments are the times of an entry's requests and responses, by the client's clock. A zero time means that the event has not happened.
type moments struct{ asked, told, givenUp, gone time.Time }

func (e *entry) label() string { return e.op.Names[e.index] }

// line is one event of the log.
type line struct {
	at   time.Duration
	text string
	op   string
}

// ledger records the responses that clients got.
type ledger struct {
	began     time.Time
	histories map[string]*consistency.Recorder // by pool name

	mu      sync.Mutex
	entries map[string]*entry // by label
	lines   []line
	tally   map[string]int
	wrong   []Violation
	asked   []asked
	pauses  []paused
}

func newLedger(pools []Pool) *ledger {
	l := &ledger{began: time.Now(), histories: map[string]*consistency.Recorder{}, entries: map[string]*entry{}, tally: map[string]int{}}
	for _, p := range pools {
		if p.judged() {
			l.histories[p.Name] = consistency.NewRecorder(p.Pool)
		}
	}
	return l
}

// note adds an event to the log.
func (l *ledger) note(op, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line{time.Since(l.began), fmt.Sprintf(format, args...), op})
}

func (l *ledger) violated(check, about, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrong = append(l.wrong, Violation{Check: check, About: about, Detail: fmt.Sprintf(format, args...)})
}

// sift removes the violations for which keep returns false.
func (l *ledger) sift(keep func(Violation) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrong = slices.DeleteFunc(l.wrong, func(v Violation) bool { return !keep(v) })
}

func (l *ledger) count(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tally[what]++
}

// ask opens one entry for each object of a create operation. The calls of the entries begin now.
func (l *ledger) ask(op *Op) []*entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]*entry, len(op.Names))
	for i, name := range op.Names {
		e := &entry{op: op, index: i, state: isOpen, when: moments{asked: time.Now()}}
		if h := l.histories[op.Pool]; h != nil {
			if op.Block.IsValid() {
				e.asked = h.ClaimBlock(op.Client, op.Pool, name, op.Block)
			} else {
				e.asked = h.Claim(op.Client, op.Pool, name, op.Bits)
			}
		}
		l.entries[name], out[i] = e, e
	}
	return out
}

// got records the objects of a successful response.
func (l *ledger) got(entries []*entry, made []thing) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, t := range made[:len(entries)] {
		e := entries[i]
		e.state, e.name, e.uid, e.block, e.when.told = isHeld, t.Metadata.Name, t.Metadata.UID, t.Status.AllocatedCIDR, time.Now()
		if e.asked != nil {
			e.asked.Got(e.block)
		}
	}
}

// absent records that the request was refused and its objects do not exist.
func (l *ledger) absent(entries []*entry, code ipam.Code) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range entries {
		e.state = isAbsent
		switch {
		case e.asked == nil:
		case code == ipam.CodePoolExhausted && len(entries) == 1:
			e.asked.Exhausted()
		case code == ipam.CodeBlockTaken:
			e.asked.Taken()
		default: // the refusal of a batch does not show which of its claims did not fit
			e.asked.Void()
		}
	}
}

// taint marks entries that an unfinished attempt may still change.
func (l *ledger) taint(entries []*entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range entries {
		e.tainted = true
	}
}

// target returns the entry of the object that an operation refers to, or nil.
func (l *ledger) target(op *Op) *entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.entries[op.Target.Names[op.Index]]
}

// known returns a copy of an entry.
func (l *ledger) known(e *entry) entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return *e
}

// release begins the release of an entry. It returns false if the entry cannot be released now.
func (l *ledger) release(client int, e *entry) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e == nil || e.state != isHeld || e.tainted && !e.op.Keyed {
		return false
	}
	e.state, e.when.givenUp = isReleasing, time.Now()
	if h := l.histories[e.op.Pool]; h != nil {
		e.released = h.Release(client, e.op.Pool, e.label())
	}
	return true
}

// ended records the outcome of a release. repeated means that an earlier attempt may have released the entry.
func (l *ledger) ended(e *entry, a answer, repeated bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	call := e.released
	if call == nil {
		call = nobody()
	}
	e.when.gone = time.Now()
	switch {
	case a.meaning() == refused && a.code == ipam.CodeNotFound && repeated, a.meaning() == succeeded && repeated:
		e.state = isReleased
		call.Gone()
	case a.meaning() == succeeded:
		e.state = isReleased
		call.Released()
	case a.code == ipam.CodeNotFound:
		e.state = isReleased
		call.NotFound()
		if e.released == nil {
			l.wrong = append(l.wrong, Violation{Check: "lost", About: e.label(), Detail: "is held as its client was told, and cannot be found to be released"})
		}
	default:
		e.state, e.when.givenUp, e.when.gone = isHeld, time.Time{}, time.Time{}
		call.Void()
	}
}

// nobody returns a call that belongs to no history. It replaces the missing call of an entry without one.
func nobody() *consistency.Call {
	p := pool("none", "192.0.2.0/32", 32, "")
	return consistency.NewRecorder(p.Pool).Release(0, "none", "nothing")
}

// about returns the log lines that mention a text.
func (l *ledger) about(what string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, n := range l.lines {
		if what != "" && (n.op == "" || strings.Contains(n.text+" "+n.op+" ", what)) {
			out = append(out, n.String())
		}
	}
	return out
}

func (n line) String() string { return fmt.Sprintf("%8.3f s  %-8s %s", n.at.Seconds(), n.op, n.text) }

// named returns a copy of the entry with a label.
func (l *ledger) named(label string) entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.entries[label]; e != nil {
		return *e
	}
	return entry{state: isOpen}
}

// undecided records the code of a refusal. The entries stay open, because another attempt may still be under way.
func (l *ledger) undecided(entries []*entry, code ipam.Code) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range entries {
		e.refuse = code
	}
}
