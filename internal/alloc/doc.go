// Package alloc contains the use cases on address space: carve pools, claim blocks, release them, list allocations.
//
// # The model
//
// Rows tile a container (a pool, or one family of a space): each block is a free row or an allocation. Every use case that moves blocks makes a plan
// with package space from a few free rows. Then it writes the plan: it deletes exactly these free rows, inserts exactly those, and inserts or deletes
// exactly these allocations. A delete that does not hit every row that it names aborts the transaction. So no read can cause a block to be handed out
// twice. SERIALIZABLE is needed only for rules across rows: free buddies are always merged, and only an empty pool can be deleted.
//
// # Group commit
//
// Claims and releases that arrive for a pool during a transaction of that pool form the next transaction together, whatever their lengths
// (claims/group.go). No timer delays them: a single request starts at once. Each member keeps its own outcome. A member that cannot be served never
// fails the others.
//
// # Retries and indeterminate commits
//
// A use case prepares every value that a retry must not change (ids, names, the time) before the transaction. After an indeterminate COMMIT it reads
// back by the prepared id. If it finds the row, the request is done; if not, it runs again. The unique name prevents a duplicate even if the first
// COMMIT takes effect late (usecase/read_back.go).
//
// # Order of locks
//
// In one process at most one transaction works on a container at a time (locks/container_locks.go). A transaction that needs several containers locks them in
// order of id. Between processes the database decides: a transaction waits for its named locks (storage/locks.go), or the loser of a conflict runs
// again from other random places.
//
// # Packages
//
// Each package imports only packages that come before it in this list:
//
//	freespace   arithmetic on blocks
//	storage     the database interface: transactions, reads, changes as data
//	locks       per-pool locks of a process, and limits for slow work
//	paging      filters, pages, cursors
//	usecase     access to a project, preconditions, repeats, indeterminate commits, limits of all retries
//	carve       takes blocks from free rows, and returns the changed rows
//	trail       the audit trail and the history of blocks
//	attach      changes to consumers in a transaction that creates or changes claims
//	kind        the use cases that all resources share: list, read, create, put, patch, delete
//	quota       quotas, and the ledger that keeps them
//	access      projects, spaces, members, API keys, grants
//	regions     pools that several regions serve: lend, recall, reconcile
//	refusals    refusals by pools, with figures
//	pools       pools, classes, cool-down, the sampler
//	utilization records of the use of pools over time
//	resolve     finds the pools that may serve a claim
//	allocations allocations and their holders
//	search      search by text and address in several projects
//	claims      claims, one by one, in groups and in batches
//	consumers   attachment, renewal and end of consumers, and their background jobs
//	releases    releases of many claims in one request
//	alerts      alert rules on pools and quotas
//	feed        the changes of a project in order
//	webhooks    delivery of changes to webhooks
package alloc
