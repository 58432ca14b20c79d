package chaos

import (
	"context"
	"net/http"
	"time"
)

// How long blocks of the pools with a cool-down wait. The longer one does not end within a run, whatever a clock says that is not far off; the shorter one is
// over when the pools are emptied, and so must be found to be.
const (
	longer  = 15 * time.Minute
	shorter = time.Second
)

// cooled asks whether a block was handed out again before its time. The cool-down begins after the release was sent, and who has the answer to a claim was
// given the block before: if between the two there is less than reuseAfter, it was given too early, by the client's clock.
func (run *run) cooled() {
	after := map[string]time.Duration{}
	for _, p := range run.plan.Pools {
		after[p.Name] = p.ReuseAfter
	}
	all := run.ledger.all()
	for _, was := range all {
		wait := after[was.op.Pool]
		if wait == 0 || was.when.givenUp.IsZero() || !was.block.IsValid() {
			continue
		}
		for _, is := range all {
			if is.op.Pool != was.op.Pool || !is.block.IsValid() || is.label() == was.label() || !is.block.Overlaps(was.block) {
				continue
			}
			if !is.when.givenUp.IsZero() && is.when.givenUp.Before(was.when.told) {
				continue // it held the block before
			}
			if passed := is.when.told.Sub(was.when.givenUp); passed < wait {
				run.ledger.violated("cooled", is.label(), "was given %v %v after %s gave %v up, which has to wait for %v", is.block, passed, was.label(), was.block, wait)
			}
			run.ledger.count("block used again after its cool-down")
		}
	}
}

// coolingLimit is how long a pool may take to have everything back that should have cooled down: the job that does it comes every second.
const coolingLimit = time.Minute

// thaw returns when the pools that were emptied are free again: where the cool-down is short it waits, and elsewhere the operator ends it.
func (run *run) thaw(ctx context.Context, do func(r int, method, path string, body any) answer) {
	late := time.Now().Add(coolingLimit)
	for {
		cooling := map[string]thing{}
		if err := run.list(ctx, run.regions[0], "allocations", cooling); err != nil {
			run.broke("listing what cools down", err)
			return
		}
		brief := 0
		for id, a := range cooling {
			switch p := run.plan.poolOf(a.Status.AllocatedCIDR); {
			case p.ReuseAfter == shorter && time.Now().After(late):
				run.ledger.violated("cooled", id, "%v cools down %v after all was released from a pool with a cool-down of %v", a.Status.AllocatedCIDR, coolingLimit, shorter)
			case p.ReuseAfter == shorter:
				brief++
				continue
			}
			if a := do(0, http.MethodDelete, at("allocations", id), nil); a.meaning() != succeeded {
				run.ledger.violated("unusable", id, "does not end to cool down: %d %s %v", a.status, a.body, a.err)
			}
		}
		if brief == 0 || !wait(ctx, 100*time.Millisecond) {
			return
		}
	}
}
