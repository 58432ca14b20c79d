// Package ipam is the vocabulary of Carve: the resources (Project, Space, Pool, Claim, Allocation), their identities,
// their validation and the one error type. It knows no HTTP, no SQL and no clock, and imports the standard library alone.
//
// The words, each used for one thing:
//
//	project     the tenant
//	space       a routing domain; inside one space nothing overlaps
//	pool        a block from which others are carved: root (carved from its space) or child (carved from its parent)
//	claim       a request for one block; bound in the answer to its creation, or it does not exist
//	allocation  the system's record of a block that was handed out
//	block       an aligned CIDR (netip.Prefix, masked); a host address is a /32 or /128 block
//	container   whatever blocks are carved from: a pool, or one address family of a space
//
// The invariant everything rests on: in one container every address is covered by exactly one row, a free block or an
// allocation.
package ipam
