// Package ipam has Carve's vocabulary. It defines the resources, such as Project, Space, Pool, Claim and Allocation, with their identities and their
// validation. It also defines the only error type. It uses no HTTP, no SQL and no clock, and imports only the standard library.
//
// Each word has one meaning:
//
//	project     the tenant
//	space       a routing domain; inside one space nothing overlaps
//	pool        a block that Carve divides; a root pool comes from its space, and a child pool comes from its parent
//	claim       a request for one block; it exists only when it is bound
//	allocation  the system's record for a held block
//	block       an aligned CIDR (netip.Prefix, masked); a host address is a /32 or /128 block
//	container   the source of blocks: a pool, or one address family of a space
//
// The central invariant is that in a container, exactly one row covers each address. The row is a free block or an allocation.
package ipam
