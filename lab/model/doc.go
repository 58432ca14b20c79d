// Package model checks all reachable states of a model of Carve's algorithm for broken promises. The model has a small pool and a few regions and
// clients. The search covers each order of the steps, each lost response and a server crash at any point. It also covers the restore of a region to
// an older state. docs/model/Carve.tla is the same model in TLA+. The list of names below calls it "the text". docs/model/README.md has the results
// and lists the parts that the model omits.
//
// The steps on blocks call the product's functions for blocks, with the rows that the product would read. The promises use another method: they
// compare sets of addresses.
//
// # How it searches
//
// The search runs breadth first from the one initial state, so it finds a shortest path to a broken promise. It stores each state completely. A hash
// could confuse two states.
//
// One reduction makes the search smaller. States that differ only by swapped halves of blocks count as one state. If the two halves of a block are
// swapped everywhere in a state, the new state behaves in the same way. There are two reasons. Each step chooses among all blocks of a size, and no
// promise depends on an address's number. One test checks that the product's functions treat swapped rows alike. Another test checks that searches
// with and without the reduction agree. Bounds.Plain turns the reduction off.
//
// # Twins
//
// A Twin is the model without one protection. The search must find the broken promise in each twin. A search that cannot do so would not detect a
// missing protection in the product either.
//
// # Names
//
// The list shows each action of the text, the functions of this package, and the counterpart in the product:
//
//	Ask                          claimSteps                        a request to create a claim, with a key or a name
//	Look, Doubt                  replay, refuse                    the search for an earlier attempt's result; Doubt repeats it before a refusal
//	Carve, Bind, MayWrite        carveSteps, bind, mayWrite, take  the claim's transaction; unique keys and names
//	Found, FindNone              lookSteps                         the search for room in all regions, in one transaction
//	Lend, Recall, Move           keeperSteps, move, exact, unlend  loans and recalls
//	stale, Served                stale, served, newEpoch           the epochs in pool_regions and stocks
//	Return, Release, Unbind      releaseSteps, unbind, merge       the release's transaction
//	Repeat, LookUp               claimSteps, releaseSteps          the client's step after a lost response; the server's after an unknown COMMIT
//	Crash                        lose                              a server that ends between two transactions
//	Lose, Land, Vanish           lose, lateSteps                   a COMMIT with a lost response; a request whose client no longer waits
//	Backup, Restore              restoreSteps, restore             one region's rows and epoch, which are restored together
//	no action yet                fencedSteps, fencedRelease        claims and releases on cached rows, which compare versions; two pools in one transaction
//	Reconcile, Truth             reconcile, truth                  ipamctl region reconcile, which makes the rows agree with the loan records
//
// In the text, Carved, Merged and Unlent are sets of addresses. A test compares them with the results of the product's functions. It covers all sets
// of rows of pools with 2, 4 and 8 addresses.
package model
