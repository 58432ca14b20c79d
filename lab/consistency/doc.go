// Package consistency judges what clients were told: is there an order of all operations, in which each takes effect at one
// moment between its call and its answer, and in which every answer is right?
//
// # The specification
//
// A pool is a set of claims, each holding one block of it. In every state:
//
//   - a claim by length gets an aligned block of that length which overlaps no held one; "exhausted" is right only when
//     there is no such block
//   - a claim of a very block gets it; "taken" is right only when a part of it is held
//   - a release of a claim frees its block; "not found" is right only when the claim does not exist
//
// This is linearizability (Herlihy and Wing, 1990), which is more than the tiling that the audit finds in the database at
// the end: a block that is handed out twice, one after the other, a refusal while there was room, and an answer that was
// taken back are all invisible afterwards.
//
// # What was not answered
//
// An operation whose outcome is not known (the connection was cut, the time was up) may have taken effect at any moment
// since its call, or never: the model follows both. Each such operation multiplies the search, so a client that can find out,
// by repeating the request, should: call and repeats are then one operation with one answer.
//
// # Cost
//
// The search is exponential in how much overlaps, and linear in the length of the history. Histories are judged pool by pool. With 8
// clients and pools of 16 blocks, hundreds of operations take milliseconds.
//
// # Use
//
// Workload runs clients against Targets (a service, or a server behind HTTP) and records them. A test that does something of
// its own keeps a Recorder itself. Require ends the test, with a picture of the history, when no order exists.
package consistency
