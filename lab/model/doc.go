// Package model checks, state by state, that what Carve promises follows from how it works: a small pool, a few regions and clients,
// every order of steps, every answer lost, a server crashed anywhere, a region restored to an older state. docs/model/Carve.tla is the same
// model as a text; docs/model/README.md says what was found and what is not modelled.
//
// The steps on blocks are not a copy of the product's arithmetic: they are its functions (package space), called with the rows
// that the product would read. What the promises say is computed here in another way, on sets of addresses.
//
// # How it searches
//
// Breadth first, from the one initial state, with every state stored whole (no hashing that could take two for one), so a promise that is broken
// comes with a shortest way to it.
//
// One reduction is used, and can be turned off (Bounds.Plain): states that differ only by swapping the halves of blocks are one. Swapping the two
// halves of any block, everywhere in a state, gives a state that behaves alike: every step chooses among all blocks of a size,
// and no promise speaks of an address by its number. That the functions of package space treat swapped rows alike is
// checked for every set of rows of the bounds by a test, and that searches with and without the reduction agree by another.
//
// # Twins
//
// A Twin is the model with one protection taken away. Each must be caught, or the promise that it breaks is one that the search cannot see.
//
// # Names
//
// Each action of the text, what it is called here, and what it stands for in the product:
//
//	Ask                          claimSteps                        a request to create a claim, with a key or a name
//	Look, Doubt                  replay, refuse                    the look for what a repeat made, and the one before a refusal
//	Carve, Bind, MayWrite        carveSteps, bind, mayWrite, take  the claim's transaction; unique keys and names
//	Found, FindNone              lookSteps                         the look for room in all regions, in one transaction
//	Lend, Recall, Move           keeperSteps, move, exact, unlend  loans and recalls
//	stale, Served                stale, served, newEpoch           epochs of pool_regions and stocks
//	Return, Release, Unbind      releaseSteps, unbind, merge       the release's transaction
//	Repeat, LookUp               claimSteps, releaseSteps          what a client does after no answer, and a server after an unknown COMMIT
//	Crash                        lose                              a server that ends between two transactions
//	Lose, Land, Vanish           lose, lateSteps                   a COMMIT with its answer lost; a request whose client has gone
//	Backup, Restore              restoreSteps, restore             one region's rows, with the epoch beside them, put back
//	no action yet                fencedSteps, fencedRelease        claims and releases on what a server remembers, under marks; two pools at once
//	Reconcile, Truth             reconcile, truth                  ipamctl region reconcile: the record is taken for true
//
// Carved, Merged and Unlent are sets of addresses in the text; a test compares them with what the product's functions answer for every set of
// rows of pools of 2, 4 and 8.
package model
