// Package consistency judges the responses that clients got: do all operations have an order in which each takes effect at one moment between its
// call and its response, and in which every response is right?
//
// # The specification
//
// A pool is a set of claims, each with one block of it. In every state:
//
//   - a claim by length gets an aligned block of that length which overlaps no held one; "exhausted" is right only when
//     no such block exists
//   - a claim of an exact CIDR gets it; "taken" is right only when a part of it is held
//   - a release of a claim frees its block; "not found" is right only when the claim does not exist
//
// This is linearizability (Herlihy and Wing, 1990), which is more than the tiling that the audit finds in the database at the end. A block that two
// claims had one after the other, a refusal while room existed, and a response that was undone later all leave no trace.
//
// # Unknown outcomes
//
// An operation with an unknown outcome (a cut connection, a timeout) may have taken effect at any moment since its call, or never: the model follows
// both. Each such operation multiplies the search, so a client should repeat the request until the outcome is certain, where possible: call and
// repeats are then one operation with one response.
//
// # Cost
//
// The search is exponential in the number of overlapping operations, and linear in the history's length. It judges each pool separately. With 8
// clients and pools of 16 blocks, hundreds of operations take milliseconds.
//
// # Use
//
// Workload runs clients against Targets (a service, or a server behind HTTP) and records them. A test with its own operations uses a Recorder
// directly. Require fails the test, with a picture of the history, when no order exists.
package consistency
