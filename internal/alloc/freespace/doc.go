// Package freespace is carving arithmetic: from free blocks and requests it computes which blocks to grant and which stay free.
//
// # Words
//
// A block is an aligned CIDR: a valid netip.Prefix without host bits (see Canonical). A host address is a block with length 32 or 128. IPv4 blocks
// have 4-byte addresses, never IPv4-mapped ones. The blocks below ::ffff:0:0/96 are ordinary IPv6 blocks here, because the IPv6 space could not be
// tiled without them; pools that contain them are refused elsewhere. A container is the block that is carved: a whole address family, or a pool. A
// block's buddy is the other half of its parent. A BlockRequest is a request for one block.
//
// # Invariant
//
// The free and held blocks of a container together tile it: exactly one of them covers each address. The free list is also maximal: no two free
// blocks are buddies. So a free block is as large as it can be, and the container can grant a block with some length if and only if one free block at
// least that large exists. No block is unavailable merely because its free halves are not merged yet.
//
//	        container /24                     free list after carving .64/27
//	|-------------------------------|
//	|  .0/26  |.64|.96|   .128/25   |         .0/26  .96/27  .128/25
//	   free   held free     free
//
// Each operation here keeps both properties: Carve replaces a free block by the target and its remainders, Merge replaces released blocks and their
// free buddies by the parents, and FreeSet plans a whole batch of carves. Tiles checks the tiling.
//
// # Reading little
//
// A free list can hold millions of rows, and a plan must not read them all. ReadsFor names the rows that decide a batch's outcome. The lemma in
// reads.go shows that a plan from those rows grants exactly the same blocks as a plan from the whole list. MergeCandidates does the same for
// releases.
//
// # Trust and failure
//
// Every function is pure: it uses no clock, no I/O, no shared state and no random source (callers pass random bits). A FreeSet belongs to one
// goroutine. A BlockRequest comes from a client and may have any value; at worst it is not granted. The package checks rows from the store where a fault in
// them could grant a block twice: NewFreeSet refuses rows that overlap or lie outside. A precondition that only our own code can break (Buddy of a
// whole family, Carve of a block that is not inside) panics, so that the transaction ends instead of losing address space.
package freespace
