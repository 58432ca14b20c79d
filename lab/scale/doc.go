// Package scale measures the cost of Carve's operations as the data grows: one axis at a time, with everything else at the base point in axes.go.
// `make scale` runs it; docs/performance.md has the results.
//
// Each cell has its own database, loaded in bulk into the real tables and audited. The program measures it in turn with the smallest cell of its
// axis, one operation at a time, so that a disturbance of the machine affects both. Every figure comes with its ratio to the smallest cell. The times
// come from one client that calls the use cases in process, with the audit trail. PostgreSQL itself counts statements and pages for each statement,
// and the rows that it reads or writes.
//
// It asserts nothing about time. It fails when the audit finds a fault in the data, an operation fails, or an operation needs more statements in a
// larger cell than in the smallest.
package scale
