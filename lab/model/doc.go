// Package model checks, state by state, that Carve's algorithm keeps Carve's promises. It covers a small pool, a few regions and clients, and every
// order of steps. It also covers every lost response, a server crash at any point, and a region that is restored to an older state.
// docs/model/Carve.tla is the same model in TLA+ (called "the text" here). docs/model/README.md lists the findings and the parts that the model
// omits.
//
// The steps on blocks do not copy the product's arithmetic: they call its functions (package space) with the rows that the product would read. The
// promises are computed in another way, on sets of addresses.
//
// # How it searches
//
// The search runs breadth first from the one initial state. It stores every state whole (no hashing that could confuse two states), so it finds a
// shortest path to a broken promise.
//
// It uses one reduction, which Bounds.Plain turns off: states that differ only by swapped halves of blocks count as one. A swap of any block's two
// halves, everywhere in a state, gives a state with the same behaviour. The reason is that every step chooses among all blocks of a size, and that no
// promise depends on an address's number. One test checks for every set of rows of the bounds that the functions of package space treat swapped rows
// alike. Another test checks that searches with and without the reduction agree.
//
// # Twins
//
// A Twin is the model without one protection. The search must detect each twin. Otherwise it cannot see a violation of the promise that the twin
// breaks.
//
// # Names
//
// Each action of the text, its functions here, and its counterpart in the product:
//
//	Ask                          claimSteps                        a request to create a claim, with a key or a name
//	Look, Doubt                  replay, refuse                    the search for the result of an earlier attempt, and the second one before a refusal
//	Carve, Bind, MayWrite        carveSteps, bind, mayWrite, take  the claim's transaction; unique keys and names
//	Found, FindNone              lookSteps                         the search for room in all regions, in one transaction
//	Lend, Recall, Move           keeperSteps, move, exact, unlend  loans and recalls
//	stale, Served                stale, served, newEpoch           epochs of pool_regions and stocks
//	Return, Release, Unbind      releaseSteps, unbind, merge       the release's transaction
//	Repeat, LookUp               claimSteps, releaseSteps          the client's step after a lost response, and the server's after an unknown COMMIT
//	Crash                        lose                              a server that ends between two transactions
//	Lose, Land, Vanish           lose, lateSteps                   a COMMIT with a lost response; a request whose client has gone
//	Backup, Restore              restoreSteps, restore             one region's rows and epoch, restored together
//	no action yet                fencedSteps, fencedRelease        claims and releases on cached rows, under versions (marks); two pools in one transaction
//	Reconcile, Truth             reconcile, truth                  ipamctl region reconcile: the record is authoritative
//
// In the text, Carved, Merged and Unlent are sets of addresses. A test compares them with the results of the product's functions for every set of
// rows of pools of 2, 4 and 8.
package model
