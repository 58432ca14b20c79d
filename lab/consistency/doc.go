// Package consistency judges the responses that clients got. It searches for an order of all operations in which every response is right. In that
// order, each operation takes effect at one moment between its call and its response.
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
// This is linearizability (Herlihy and Wing, 1990). It requires more than the tiling that the audit checks in the database at the end. A block that
// two claims had one after the other, a refusal while room existed, and a response that was undone later all leave no trace.
//
// # Unknown outcomes
//
// An operation with an unknown outcome (a cut connection, a timeout) may have taken effect at any moment since its call, or never. The model follows
// both cases, so each such operation multiplies the search. A client should therefore repeat the request until the outcome is certain, where
// possible. Call and repeats are then one operation with one response.
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
