//go:build carvetwin

package twin

import "os"

// chosen is read before the service looks at its environment, and taken out of it: the service knows no such variable.
var chosen = func() string {
	name := os.Getenv("CARVE_TWIN")
	_ = os.Unsetenv("CARVE_TWIN")
	return name
}()

// The protections that are off: the one that was chosen.
var (
	NoKey        = chosen == "no-key"         // idempotency keys are not stored with what their requests do
	StalePlan    = chosen == "stale-plan"     // an attempt after the first goes on with what the first one read
	NoReadBack   = chosen == "no-read-back"   // a COMMIT without an answer is taken for one that failed
	NoLocks      = chosen == "no-locks"       // transactions under locks do not take them
	NoMustHit    = chosen == "no-must-hit"    // a statement that should touch rows need not
	NoSecondLook = chosen == "no-second-look" // a pool is called exhausted without looking beyond the first read
	NoEpoch      = chosen == "no-epoch"       // the epochs of a region's stock are not compared
	RolesByName  = chosen == "roles-by-name"  // a role is in whichever project has the name (lab/e2e/remade_test.go fails)

	CancelCommits = chosen == "cancel-commits" // a COMMIT is cancelled with its request
	LocalClock    = chosen == "local-clock"    // what depends on time is decided by each server's own clock
	// What an earlier request did is answered before it is known to be durable. With it, a cancelled COMMIT would be seen, and acknowledged to nobody.
	NoBarrier = chosen == "no-barrier" || CancelCommits
)
