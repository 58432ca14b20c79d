// Package space is the arithmetic of carving: given free blocks and wishes, which blocks are handed out, and what remains?
//
// # Words
//
// A block is an aligned CIDR: a valid netip.Prefix whose host bits are zero (see Canonical). A host address is a block of
// 32 or 128 bits. IPv4 blocks have 4-byte addresses, never IPv4-mapped ones; the blocks below ::ffff:0:0/96 are ordinary
// IPv6 blocks here, because the IPv6 space could not be tiled without them; pools that have them in them are refused before. A container is the block that is cut up: a
// whole address family, or a pool. The buddy of a block is the other half of its parent.
//
// # Invariant
//
// The blocks of a container, free and held together, tile it: every address is covered by exactly one of them. And the
// free list is maximal: no two free blocks are buddies, so a free block is as large as it can be, and a block of some
// length can be had if and only if one free block of at least that size exists. None is ever missing only because its
// halves have not been merged yet.
//
//	        container /24                     free list after carving .64/27
//	|-------------------------------|
//	|  .0/26  |.64|.96|   .128/25   |         .0/26  .96/27  .128/25
//	   free   held free     free
//
// Each operation here keeps both properties: Carve replaces a free block by the target and its remainders, Merge replaces
// released blocks and their free buddies by the parents, and FreeSet plans a whole batch of carves. Tiles and Maximal
// check the result.
//
// # Reading little
//
// A free list can hold millions of rows, and a plan must not read them all. ReadsFor names, for a batch of wishes, the rows
// that decide its outcome; the lemma in reads.go shows that planning on those alone gives exactly the blocks that planning
// on the whole list would. MergeCandidates does the same for releases.
//
// # Trust and failure
//
// Everything is a pure function of its arguments: no clock, no I/O, no randomness of its own (random bits are passed in),
// no shared state. A FreeSet belongs to one goroutine. What comes from a caller of the service (a Wish) may be anything and
// at worst cannot be granted. What comes from the store is checked where a fault in it could lead to handing a block out
// twice: NewFreeSet refuses rows that overlap or lie outside. A broken precondition that only our own code can break
// (Buddy of a whole family, Carve of a block that is not inside) panics, so that a transaction ends instead of losing
// address space.
package space
