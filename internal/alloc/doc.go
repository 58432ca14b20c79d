// Package alloc contains the use cases for address space: they create pools, claim and release blocks, and list allocations.
//
// # The model
//
// A container is a pool, or one address family in a space. Rows in the database cover each container completely. Each block in it is a free row or an
// allocation.
//
// A use case that assigns or frees blocks reads a few free rows, and computes a plan with the packages freespace and carve. The plan lists the free
// rows to delete, the free rows to insert, and the allocations to insert or delete. Then the use case writes the plan. If a row to delete no longer
// exists, the transaction aborts. So even an outdated read cannot assign a block twice.
//
// SERIALIZABLE isolation, or a lock instead, is necessary only for rules that concern several rows. There are two examples: adjacent free blocks are
// always merged, and only an empty pool can be deleted.
//
// # Group commit
//
// While a transaction on a pool runs, new claims and releases for this pool wait. The next transaction serves them all together, even if their prefix
// lengths differ (claims/group.go). No timer delays requests, so a single request starts at once. Each request in the group has its own result. If
// one request cannot be served, the others still succeed.
//
// # Retries and indeterminate commits
//
// A use case prepares ids, names and the time before the transaction, because a retry must not change them. A COMMIT is indeterminate if its response
// is lost. Then the use case reads the row with the prepared id. If the row exists, the request is done. Otherwise the use case runs the transaction
// again. The first COMMIT may still take effect late, but then the unique name prevents a duplicate (usecase/read_back.go).
//
// # Order of locks
//
// In one process, at most one transaction works on a container at a time (locks/container_locks.go). A transaction that needs several containers
// locks them in id order.
//
// Between processes, the database resolves conflicts. On PostgreSQL, a transaction waits for its named locks (storage/locks.go). On CockroachDB, the
// loser of a conflict runs again, and starts its search for a block at another random position.
//
// # Packages
//
// Each package imports only packages that come before it in this list:
//
//	freespace   arithmetic on blocks
//	storage     the database interface: transactions, reads, changes as data
//	locks       per-pool locks in a process, and limits for slow work
//	paging      filters, pages, cursors
//	usecase     access to a project, preconditions, repeats, indeterminate commits, limits for all retries
//	carve       takes blocks from free rows, and returns the changed rows
//	trail       the audit trail and the history of blocks
//	attach      changes to consumers in a transaction that creates or changes claims
//	kind        the use cases that all resources share: list, read, create, put, patch, delete
//	quota       quotas, and the ledger that keeps them
//	access      projects, spaces, members, API keys, grants
//	regions     pools that several regions serve: lend, recall, reconcile
//	refusals    refusals by pools, with figures
//	pools       pools, classes, cool-down, the sampler
//	utilization records how full pools are over time
//	resolve     finds the pools that may serve a claim
//	allocations allocations and their holders
//	search      search by text and address in several projects
//	claims      claims, one by one, in groups and in batches
//	consumers   attach, renew and end consumers, and the background jobs for this
//	releases    release many claims in one request
//	alerts      alert rules on pools and quotas
//	feed        the changes in a project, in order
//	webhooks    send changes to webhooks
package alloc
