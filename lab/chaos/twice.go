package chaos

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// rival is the outcome of one of two requests with the same name.
type rival struct {
	won      bool // the response reports that the request made the claim
	lost     bool // the response reports that the name is in use
	refused  ipam.Code
	answer   answer
	underWay bool
}

// twice asks two servers at the same time for a claim with one name. At most one request makes the claim. Exactly one makes it if the pool is not
// full. Other clients learn of the claim only after both requests. If a client released the claim between the two requests, both could make it.
func (run *run) twice(ctx context.Context, op *Op) {
	entries := run.ledger.ask(op)
	var both [2]rival
	var wg sync.WaitGroup
	for i := range both {
		wg.Go(func() { both[i] = run.compete(ctx, op, op.Server+i) })
	}
	wg.Wait()
	run.decide(ctx, op, entries, both)
}

// compete repeats the request to one server until its outcome is certain.
func (run *run) compete(ctx context.Context, op *Op, server int) (r rival) {
	one, unknown := *op, false
	one.Server, one.Hop = server, false
	for try := range maxTries {
		a := run.ask(ctx, &one, try, op.request(op.Patience))
		r.answer, r.underWay = a, r.underWay || a.underWay()
		switch m := a.meaning(); {
		case m == succeeded:
			r.won = true
			return r
		case m == refused && a.code == ipam.CodeAlreadyExists:
			r.lost = true
			return r
		case m == refused:
			r.refused = a.code
			return r
		case m == unsure:
			unknown = true
		}
		if !wait(ctx, time.Duration(5+10*try)*time.Millisecond) {
			break
		}
	}
	r.underWay = r.underWay || unknown
	return r
}

// decide concludes from the two responses whether the claim exists.
func (run *run) decide(ctx context.Context, op *Op, entries []*entry, both [2]rival) {
	if both[0].underWay || both[1].underWay {
		run.ledger.taint(entries)
	}
	for _, r := range both {
		if r.won && r.answer.status != http.StatusCreated {
			run.ledger.violated("answer", op.ID(), "a claim by name is answered %d, not 201: %s", r.answer.status, r.answer.body)
		}
	}
	switch a, b := both[0], both[1]; {
	case a.won && b.won:
		run.ledger.violated("twice", op.Names[0], "made by two requests at once: %s and %s", a.answer.body, b.answer.body)
		run.made(op, entries, a.answer)
	case a.won:
		run.made(op, entries, a.answer)
	case b.won:
		run.made(op, entries, b.answer)
	case a.lost || b.lost:
		run.find(ctx, op, entries)
	case a.refused != "" && b.refused != "" && !a.underWay && !b.underWay:
		run.refused(op, entries, a.answer)
	case a.refused != "" || b.refused != "":
		run.ledger.undecided(entries, ipam.CodePoolExhausted)
	}
}
