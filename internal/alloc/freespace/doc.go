// Package freespace implements the arithmetic of carving. From free blocks and requests, it computes which blocks to grant and which blocks stay
// free.
//
// # Words
//
// A block is an aligned CIDR: a valid netip.Prefix without host bits (see Canonical). A host address is a block with length 32 or 128. An IPv4 block
// has a 4-byte address, never an IPv4-mapped one. A block below ::ffff:0:0/96 is an ordinary IPv6 block here, because blocks could not cover the IPv6
// space without it. Other packages refuse pools that contain such a block.
//
// A container is the block that is divided: a whole address family, or a pool. A block's buddy is the other half of the block that is twice as large.
// A BlockRequest is a request for one block. The free list contains a container's free blocks.
//
// # Invariant
//
// Each address in a container is in exactly one free block or held block. So the blocks tile the container. The free list is also maximal: no two
// free blocks are buddies, because buddies are always merged. So a free block is as large as it can be. The container can grant a block if and only
// if it has a free block that is at least as large.
//
//	        container /24                     free list after carving .64/27
//	|-------------------------------|
//	|  .0/26  |.64|.96|   .128/25   |         .0/26  .96/27  .128/25
//	   free   held free     free
//
// Each operation here keeps both properties:
//
//   - Carve replaces a free block with the target and the remaining blocks.
//   - Merge replaces released blocks and their free buddies with larger blocks.
//   - FreeSet plans several carves together.
//
// Tiles checks that blocks tile a container.
//
// # Reading little
//
// A free list can have millions of rows, and a plan must not read them all. ReadsFor returns the rows that a batch of requests needs. The lemma in
// reads.go proves that a plan from these rows grants the same blocks as a plan from the whole list. MergeCandidates returns the rows that a release
// needs.
//
// # Trust and failure
//
// Every function is pure: it uses no clock, no I/O, no shared state and no random source. Callers pass the random bits. Only one goroutine may use a
// FreeSet.
//
// A BlockRequest comes from a client and may have any value. An impossible request is not granted. A wrong row from the store could grant an address
// twice, so NewFreeSet refuses rows that overlap or are outside the container. Other preconditions, such as Buddy's, cannot fail because of a client
// or a row. Only a bug can break them. Then the function panics, so that the transaction ends before address space is lost.
package freespace
