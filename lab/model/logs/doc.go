// Package logs checks all reachable states of a model of containers as logs (docs/adr/0042) for broken promises. A group of requests is one
// transaction, which inserts all its rows or none: a log row for each container, holds, ends of holds, names and keys. Servers plan groups
// from cached folds, which may be old. The model has no database. Each transaction and each read of several rows is one step, as SERIALIZABLE
// makes them.
//
// # The rules of the protocol
//
// With these rules, every promise holds within the bounds of the searches. Each has a twin, which the search catches (bounds.go).
//
//  1. A log row n+1 needs two conditions: its key is absent, and row n exists. The second condition matters because rows are deleted. Without
//     it, an old server or a late commit inserts a row whose number was used and deleted (AbsentKeyOnly).
//  2. The collector deletes the rows before the row of the newest snapshot, and keeps this row. The row of an idle container must stay,
//     because the next row needs it and each loader begins with it (CollectsLast, CollectsUncovered).
//  3. A tail read begins with the row of the cached number itself. If that row is deleted, the cache is cold. An empty answer to "rows after
//     n" would prove nothing (TailWithGap).
//  4. To learn the outcome of a lost commit, the server reads the row with the group's number. If it is absent, the server inserts a row
//     without changes there, or sends the same group again. The next group at this number has the same effect. If the number is deleted, the
//     commit can no longer take effect, and the requests look for their own rows: keys and ends. A claim without a key then has the answer
//     "unknown".
//  5. One container is enough to learn the outcome of a group of two, and to exclude it, because one conflict prevents the whole transaction.
//     With a transaction for each container it would not be enough (FencesHalf).
//  6. A refusal as "full" needs one read: the tails of all containers that may serve the claim, and the claim's key (RefusesUnread,
//     RefusesPiecemeal, RefusesWithoutKey). After a conflict, one read returns the key and the name's holder (ChecksApart).
//  7. A release reads its hold, and then plans. If the server folds an entry that ends the hold, or loads a snapshot, after that read, it
//     reads the hold again. The unique key of the end row is not enough, because the sweeper deletes end rows (ReleaseByOldRead,
//     ReleaseOverLoad). An insert that needs the hold's row is an alternative, which is not modelled.
//  8. A snapshot has one number for its content and its tail (SnapshotSkips). Its transaction compares the newest root with the server's root
//     before it reuses pages (RootNotCompared), and never replaces a newer root (OlderRoot). A loader reads the versions in its root
//     (PageOfOtherRoot).
//  9. The sweeper deletes a hold, its end and its name in one transaction, by the hold's identity (SweepsByName, SweepsEndFirst). The slow
//     path replaces only an ended hold (ReplacesByName).
//
// Rule 1 has an alternative: the collector waits until no cached fold and no commit without an answer can use the rows. Bounds.Grace models a
// perfect wait. It depends on limits of time, which a database does not guarantee for a commit.
//
// # How it searches
//
// The search runs breadth first from the state after the creation of the containers, so it finds a shortest path to a broken promise. Two
// reductions make it smaller, and tests check that they hide no state. A log keeps only the rows that a cache, a snapshot or a commit refers
// to (normal.go). States that differ by swapped clients, servers, addresses or pages mostly count as one (symmetry.go).
//
// The nine default searches reach 54,611 to 1,108,594 states, and 5,890,870 transitions. Each takes up to 20 seconds on one core and up to
// 665 MB. The large search reaches 3,729,640 states in 67 seconds.
//
// # Not modelled
//
// Liveness: two servers may take each other's numbers for ever. Keys that expire. Isolation below SERIALIZABLE. Regions. A request that found
// its hold or its name by a follower read. Choice of blocks: all addresses are blocks of one size.
package logs
