// Package freespace implements the arithmetic of carving. From free blocks and requests, it computes which blocks to grant and which blocks stay
// free.
//
// # Words
//
// A block is an aligned CIDR: a valid netip.Prefix without host bits (see Canonical). A host address is a block with length 32 or 128. An IPv4 block
// has a 4-byte address, never an IPv4-mapped one. A block below ::ffff:0:0/96 is an ordinary IPv6 block here, because blocks could not cover the IPv6
// space without it. Other packages refuse pools that contain such a block.
//
// A container is the block that is divided: a whole address family, or a pool. The buddy of a block is the other half of the block that is twice as
// large. A BlockRequest is a request for one block. The free list contains the free blocks of a container.
//
// # Invariant
//
// Each address of a container is in exactly one free block or held block. So the blocks tile the container. The free list is also maximal: no two
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
// A free list can have millions of rows, and a plan must not read all of them. ReadsFor returns the rows that a batch of requests needs. The lemma in
// reads.go proves that a plan from these rows grants the same blocks as a plan from the whole list. MergeCandidates returns the rows that a release
// needs.
//
// # Trust and failure
//
// Every function is pure: it uses no clock, no I/O, no shared state and no random source. Callers pass the random bits. Only one goroutine may use a
// FreeSet.
//
// A BlockRequest comes from a client and may have any value. An impossible request is not granted. Rows from the store are checked if a wrong row
// could grant an address twice: NewFreeSet refuses rows that overlap or are outside the container. Clients and rows cannot break the other
// preconditions, such as Buddy of a whole family. Only a bug can. Then the function panics, so that the transaction ends before address space is
// lost.
package freespace
