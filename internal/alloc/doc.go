// Package alloc is the use cases on address space: carve pools, claim blocks, release them, list what is held.
//
// # The model
//
// A container (a pool, or one family of a space) is tiled by rows: free blocks and allocations. Every use case that moves
// blocks makes a plan, by the pure arithmetic of package space, from a few free rows, and writes it: delete exactly
// these free rows, insert exactly those, insert or delete exactly these allocations. A delete that does not hit every
// row it names aborts the transaction. So a block cannot be handed out twice whatever is read, and SERIALIZABLE is needed
// only for what spans rows: that free buddies are always merged, and that a pool is deleted only when it is empty.
//
// # Group commit
//
// Claims and releases that arrive for a pool while a transaction for that pool is running form the next one, together,
// whatever their lengths (claims/group.go). There is no timer: one caller alone waits for nobody. Each member keeps its own
// outcome; a member that cannot be served never fails its neighbours.
//
// # Repeats and unknown outcomes
//
// Everything a repeat must not change (ids, names, the time) is prepared before the transaction. When the outcome of a
// COMMIT is unknown, the use case reads back by the id it prepared: found means done, not found means run again, and
// the unique name makes a double impossible even if the first COMMIT lands late (usecase/settle.go).
//
// # Order of locks
//
// In one process, at most one transaction of ours works on a container at a time (turns/lanes.go); who needs several takes them
// in order of id. Between processes the database decides: by the locks that a transaction names (storage/locks.go), or the loser
// runs again from other random places.
//
// # Rooms
//
// Each room is a package that knows only those before it in this list:
//
//	space     arithmetic on blocks
//	storage   what the use cases need of a database: transactions, reads, changes as data
//	turns     whose turn it is to work on a pool, and how much of what takes long goes on at once
//	paging    filters, pages, cursors
//	usecase   what all use cases have in common: entering a project, preconditions, repeats, unknown outcomes; the bounds of all retries
//	carve     taking blocks from free rows, and the rows that change
//	trail     the audit trail and the history of blocks
//	attach    what a transaction that makes or changes claims does to the consumers that use them
//	quota     quotas, and the ledger that keeps them
//	access    projects, spaces, members, API keys, grants
//	regions   pools that several regions serve: lending, recalling, reconciling
//	refusals  why a pool could not grant what was asked for
//	pools     pools, classes, cool-down, the sampler
//	resolve   which pools may serve a claim
//	holdings  allocations: what is held, and by whom
//	claims    claims, alone, in groups and in batches
//	consumers what uses claims: attached, renewed, ended, and what the background does about it
//	releases  many claims that are released by one request
package alloc
