package chaos

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// maxTries limits a client's attempts of one request. If the outcome is still unknown, the end of the run resolves it.
const maxTries = 14

// client runs a plan's operations, one after another.
func (run *run) client(ctx context.Context, ops []Op) {
	for i := range ops {
		if ctx.Err() != nil {
			return
		}
		op := &ops[i]
		run.divert(op)
		switch op.Kind {
		case Release:
			run.release(ctx, op)
		case Again:
			run.again(ctx, op)
		case Get:
			run.get(ctx, op)
		case Twice:
			run.twice(ctx, op)
		default:
			run.make(ctx, op)
		}
		run.progress.add(op.Count())
	}
}

// ask sends one attempt of an operation's request. It checks the response for faults that no response may have.
func (run *run) ask(ctx context.Context, op *Op, try int, q request) answer {
	server := op.Server
	if op.Hop && (q.key == "" || run.alike) { // a repeat with a key must go to the region that received the key first
		server += try
	}
	r := run.regions[server%len(run.regions)]
	if try > 0 || q.patience == 0 {
		q.patience = run.plan.Timeout + time.Second
	}
	from := time.Now()
	a := run.caller.do(ctx, r, q)
	run.requests.Add(1)
	run.sent(op, r.index, from, a)
	if a.err != nil {
		run.ledger.note(op.ID(), "%s %s to server %d, try %d: %v", q.method, q.path, r.index, try, a.err)
	} else {
		run.ledger.note(op.ID(), "%s %s to server %d, try %d: %d %s", q.method, q.path, r.index, try, a.status, a.gist())
	}
	if run.plan.Healthy && a.code == ipam.CodeContention {
		run.ledger.violated("starved", op.ID(), "%s %s gives up while the database is well: %s", q.method, q.path, a.body)
	}
	if wrong := a.improper(); wrong != "" {
		run.ledger.violated("answer", op.ID(), "%s: %s %s: %d %s", wrong, q.method, q.path, a.status, a.body)
	}
	return a
}

// make sends a create request and repeats it until its outcome is certain.
func (run *run) make(ctx context.Context, op *Op) {
	entries := run.ledger.ask(op)
	run.settle(ctx, op, entries, false)
}

// settle sends the request for open entries until its outcome is certain. If the outcome is unknown, it repeats the request with the same key or
// name. A refusal is not certain while another attempt may still be under way. The end of the run resolves outcomes that stay unknown. The parameter
// unknown means that an earlier request may have taken effect.
func (run *run) settle(ctx context.Context, op *Op, entries []*entry, unknown bool) {
	q, underWay := op.request(op.Patience), false
	for try := range maxTries {
		a := run.ask(ctx, op, try, q)
		if a.underWay() {
			underWay = true
			run.ledger.taint(entries)
		}
		switch m := a.meaning(); {
		case m == succeeded:
			run.made(op, entries, a)
			return
		case m == refused && a.code == ipam.CodeAlreadyExists && unknown && !op.Keyed && op.Kind != Put:
			run.find(ctx, op, entries) // an earlier attempt of this operation made the object
			return
		case m == refused && underWay:
			run.ledger.undecided(entries, a.code)
			return
		case m == refused:
			run.refused(op, entries, a)
			return
		case m == unchanged && !unknown && op.Leave:
			run.ledger.absent(entries, a.code)
			return
		case m == unsure:
			unknown = true
			if op.Leave || op.Kind == Generated && !op.Keyed {
				return
			}
		}
		if !wait(ctx, time.Duration(5+10*try)*time.Millisecond) {
			return
		}
	}
}

// made records the objects that the response to a request contains.
func (run *run) made(op *Op, entries []*entry, a answer) {
	made, err := op.things(a.body)
	if err != nil {
		run.ledger.violated("answer", op.ID(), "cannot be read: %v: %s", err, a.body)
		return
	}
	run.ledger.got(entries, made)
}

// expected lists the refusals that a correct service may send at any time.
var expected = []ipam.Code{ipam.CodePoolExhausted, ipam.CodeBlockTaken}

func (run *run) refused(op *Op, entries []*entry, a answer) {
	ok := slices.Contains(expected, a.code) || a.code == ipam.CodeExhaustedByCooldown && run.plan.Weather.Restore || op.Kind == ChildClaim && a.code == ipam.CodeNotFound
	if !ok {
		run.ledger.violated("answer", op.ID(), "a refusal that nobody earned: %d %s", a.status, a.body)
	}
	run.ledger.absent(entries, a.code)
}

// find reads by name the objects that an earlier attempt made. The read alone does not prove that an object is durable. But the service has already
// refused the name as taken, and that refusal proves it.
func (run *run) find(ctx context.Context, op *Op, entries []*entry) {
	for i, e := range entries {
		for try := 0; ; try++ {
			a := run.ask(ctx, op, try, request{method: http.MethodGet, path: op.path(op.Names[i])})
			if a.meaning() == succeeded {
				one := *op
				one.Kind = Claim
				run.made(&one, []*entry{e}, a)
				break
			}
			if a.meaning() == refused {
				run.ledger.violated("told", op.Names[i], "exists, says the answer to a repeat; it does not, says a read: %d %s", a.status, a.body)
				return
			}
			if try == maxTries || !wait(ctx, time.Duration(5+10*try)*time.Millisecond) {
				return
			}
		}
	}
}

// release releases a claim or child pool and repeats the request until the release is certain.
func (run *run) release(ctx context.Context, op *Op) {
	e := run.ledger.target(op)
	if !run.ledger.release(op.Client, e) {
		run.get(ctx, op)
		return
	}
	run.insist(ctx, op, e, false)
}

// insist repeats a release until its outcome is certain. repeated means that the caller has already sent an earlier attempt.
func (run *run) insist(ctx context.Context, op *Op, e *entry, repeated bool) {
	q := request{method: http.MethodDelete, path: e.op.path(run.ledger.known(e).name), patience: op.Patience}
	for try := range maxTries {
		a := run.ask(ctx, op, try, q)
		switch a.meaning() {
		case succeeded:
			run.ledger.ended(e, a, repeated)
			return
		case refused:
			if a.code != ipam.CodeNotFound && (a.code != ipam.CodeInUse || e.op.Kind != Child) {
				run.ledger.violated("answer", op.ID(), "a refusal that nobody earned: %d %s", a.status, a.body)
			}
			run.ledger.ended(e, a, repeated)
			return
		case unchanged:
			if op.Leave && !repeated {
				run.ledger.ended(e, a, false)
				return
			}
		case unsure:
			repeated = true
			if op.Leave {
				return
			}
		}
		if !wait(ctx, time.Duration(5+10*try)*time.Millisecond) {
			return
		}
	}
}

// again repeats a request that got a response, with the same key. While the request's objects are held, the repeat must get the same response. If a
// claim was released before the repeat was sent, the service must refuse the repeat. This rule does not apply to pools. If a release runs at the same
// time, both outcomes are right.
func (run *run) again(ctx context.Context, op *Op) {
	e := run.ledger.target(op)
	if e == nil {
		return
	}
	had := make([]entry, len(e.op.Names))
	for i, name := range e.op.Names {
		had[i] = run.ledger.named(name)
		if s := had[i].state; s != isHeld && s != isReleased && s != isReleasing {
			return
		}
	}
	q := e.op.request(0)
	to := *op
	to.Server, to.Hop = e.op.Server, e.op.Hop
	a := run.ask(ctx, &to, 0, q)
	switch a.meaning() {
	case unsure, unchanged:
		return
	case refused:
		if a.code != ipam.CodeClaimReleased || e.op.Kind == Child || !run.mayBeGone(e.op) {
			run.ledger.violated("repeat", e.label(), "a repeat with the key of a request that succeeded is refused: %d %s", a.status, a.body)
		}
		return
	case succeeded:
		if e.op.Kind != Child && slices.ContainsFunc(had, func(e entry) bool { return e.state == isReleased }) {
			run.ledger.violated("repeat", e.label(), "was released, and a repeat is answered as if it were held: %s", a.body)
		}
	}
	made, err := e.op.things(a.body)
	if err != nil {
		run.ledger.violated("answer", op.ID(), "cannot be read: %v: %s", err, a.body)
		return
	}
	for i := range had {
		if had[i].uid != made[i].Metadata.UID || had[i].block != made[i].Status.AllocatedCIDR || !a.replayed {
			run.ledger.violated("repeat", had[i].label(), "first %s %v, repeat %s %v, replayed: %t",
				had[i].uid, had[i].block, made[i].Metadata.UID, made[i].Status.AllocatedCIDR, a.replayed)
		}
	}
}

// mayBeGone reports whether one of the operation's objects was released, or may have been.
func (run *run) mayBeGone(op *Op) bool {
	return slices.ContainsFunc(op.Names, func(name string) bool { return run.ledger.named(name).state != isHeld })
}

// get reads an object. If the object is held before and after the read, the read must find it.
func (run *run) get(ctx context.Context, op *Op) {
	e := run.ledger.target(op)
	if e == nil {
		return
	}
	before := run.ledger.known(e)
	if before.name == "" {
		return
	}
	a := run.ask(ctx, op, 0, request{method: http.MethodGet, path: e.op.path(before.name)})
	if before.state != isHeld || run.ledger.known(e).state != isHeld {
		return
	}
	one := Op{Kind: Claim}
	switch a.meaning() {
	case refused:
		run.ledger.violated("told", e.label(), "is held as its client was told, and a read answers %d %s", a.status, a.body)
	case succeeded:
		if got, err := one.things(a.body); err != nil || got[0].Metadata.UID != before.uid || got[0].Status.AllocatedCIDR != before.block {
			run.ledger.violated("told", e.label(), "is %s %v as its client was told, and a read answers %s", before.uid, before.block, a.body)
		}
	case unsure, unchanged:
	}
}

// gist summarizes a response for a report.
func (a answer) gist() string {
	if a.code != "" {
		return string(a.code)
	}
	one := Op{Kind: Claim}
	if got, err := one.things(a.body); err == nil && got[0].Status.AllocatedCIDR.IsValid() {
		return got[0].Metadata.Name + " " + got[0].Status.AllocatedCIDR.String()
	}
	return ""
}
