// Package logspike tests a design for Carve's engine: every container is a log, and every group of requests is one INSERT into one table. It serves
// claims and releases over HTTP, beside the product, so that lab/rivals can compare both in one run.
//
// # Write path
//
//  1. Submit adds a request to the queue of its pool (engine.go).
//  2. A worker takes the waiting requests of all ready pools (engine.go) and plans them on the pools' free space in memory (plan.go, tree.go).
//  3. One INSERT writes the log rows, the holds and the ends of holds (statements.go, group.go). The key of a log row is (pool, sequence number).
//  4. If another server wrote the same key, the INSERT fails. The server reads the new log rows, applies them, and plans again (group.go, pool.go).
//  5. If the outcome of the INSERT is unknown, the log row at that key decides (resolve.go).
//
// # Free space
//
// The free blocks of a pool are a function of its log. A snapshot stores them as a tree of pages (tree.go, pages.go). A server without a cached pool
// reads the root page, the log rows after it, and the pages on the path to the block that it allocates.
//
// # Cleanup
//
// A release inserts a row that ends a hold. The sweeper deletes both rows later (sweep.go). Reads exclude ended holds (read.go).
package logspike
