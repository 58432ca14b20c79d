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
// whatever their lengths (group.go). There is no timer: one caller alone waits for nobody. Each member keeps its own
// outcome; a member that cannot be served never fails its neighbours.
//
// # Repeats and unknown outcomes
//
// Everything a repeat must not change (ids, names, the time) is prepared before the transaction. When the outcome of a
// COMMIT is unknown, the use case reads back by the id it prepared: found means done, not found means run again, and
// the unique name makes a double impossible even if the first COMMIT lands late (settle.go).
//
// # Order of locks
//
// In one process, at most one transaction of ours works on a container at a time (lanes.go); who needs several takes them
// in order of id. Between processes the database decides: by the locks that a transaction names (locks.go), or the loser
// runs again from other random places.
package alloc
