//go:build !carvetwin

package twin

// The protections that are off: none.
const (
	NoKey        = false // idempotency keys are not stored with what their requests do
	StalePlan    = false // an attempt after the first goes on with what the first one read
	NoReadBack   = false // a COMMIT without an answer is taken for one that failed
	NoLocks      = false // transactions under locks do not take them
	NoMustHit    = false // a statement that should touch rows need not
	NoSecondLook = false // a pool is called exhausted without looking beyond the first read
	NoEpoch      = false // the epochs of a region's stock are not compared
	RolesByName  = false // a role is in whichever project has the name (lab/e2e/remade_test.go fails)

	CancelCommits = false // a COMMIT is cancelled with its request
	LocalClock    = false // what depends on time is decided by each server's own clock
	NoBarrier     = false // what an earlier request did is answered before it is known to be durable
)
