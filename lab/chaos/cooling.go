package chaos

import (
	"context"
	"net/http"
	"time"
)

// Cool-down times of pools. The longer time does not end during a run, even by a wrong clock. The shorter time has passed when the run empties the
// pools.
const (
	longer  = 15 * time.Minute
	shorter = time.Second
)

// cooled checks that the service handed out no block again too early. All times are by the clients' clock. The cool-down begins after the client
// sends the release. The next client holds the block before it receives the response. So the time between the two events must be at least reuseAfter.
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
				continue // this entry held the block before the other one did
			}
			if passed := is.when.told.Sub(was.when.givenUp); passed < wait {
				run.ledger.violated("cooled", is.label(), "was given %v %v after %s gave %v up, which has to wait for %v", is.block, passed, was.label(), was.block, wait)
			}
			run.ledger.count("block used again after its cool-down")
		}
	}
}

// coolingLimit is the time within which a pool must get back all blocks whose cool-down has ended. The job that returns them runs every second.
const coolingLimit = time.Minute

// thaw returns when all blocks of the emptied pools are free. It waits for short cool-downs, and ends the longer ones as an operator would.
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
