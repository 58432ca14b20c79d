// Package scale shows what Carve's operations cost as the work grows: one axis at a time, with everything else at a base point that
// axes.go states. `make scale` runs it; docs/performance.md says what came of it.
//
// Each cell is a database of its own, loaded in bulk into the real tables and audited. It is measured in turn with the smallest
// cell of its axis, one operation here and one there, so that what disturbs the machine disturbs both, and every figure has the
// ratio of the two beside it. Times are those of one client that calls the use cases in process, the audit trail included.
// Statements and pages are PostgreSQL's own count for each statement, rows those that it counted as read or written.
//
// It asserts nothing about time; it fails when the audit
// objects to the data, when an operation fails, or when an operation needs more statements in a larger cell than in the smallest.
package scale
