// Package consistency judges the responses that clients got. It searches for an order of all operations in which each response is right. In that
// order, each operation takes effect at one moment between its call and its response.
//
// # The specification
//
// A pool is a set of claims. Each claim has one block of the pool. In each state:
//
//   - A claim by length gets an aligned block of that length that overlaps no held block. "exhausted" is right only when
//     no such block exists.
//   - A claim of an exact CIDR gets that CIDR. "taken" is right only when a part of it is held.
//   - A release of a claim frees its block. "not found" is right only when the claim does not exist.
//
// This is linearizability (Herlihy and Wing, 1990). It finds faults that the audit of the database at the end cannot find, because they leave no
// trace:
//
//   - a block that two claims had one after the other
//   - a refusal although there was room
//   - a response that was undone later
//
// # Unknown outcomes
//
// An operation with an unknown outcome (a cut connection, a timeout) may have taken effect at any moment since its call, or never. The search follows
// both cases, so each such operation multiplies the search. Therefore a client should repeat the request until the outcome is certain, where this is
// possible. The call and its repeats then count as one operation with one response.
//
// # Cost
//
// The time of the search is exponential in the number of overlapping operations, and linear in the length of the history. Each pool is judged
// separately. With 8 clients and pools of 16 blocks, hundreds of operations take milliseconds.
//
// # Use
//
// Workload runs clients against Targets (a service, or a server behind HTTP) and records their operations. A test with its own operations uses a
// Recorder directly. If no order exists, Require fails the test and draws a picture of the history.
package consistency
