// Package scale measures the cost of Carve's operations as the data grows. It changes one axis at a time, and everything else stays at the base point
// in axes.go. `make scale` runs it. docs/performance.md has the results.
//
// Each cell has its own database. The program loads it in bulk into the real tables and audits it. It measures each cell and the smallest cell of the
// axis in turn, one operation at a time. So a disturbance of the machine affects both. Each figure comes with its ratio to the smallest cell. One
// client calls the use cases in process, with the audit trail, and measures their times. PostgreSQL itself counts the statements, their pages, and
// the rows that they read or write.
//
// No limit on time fails a run. These faults fail it:
//
//   - the audit finds a fault in the data
//   - an operation fails
//   - an operation needs more statements in a larger cell than in the smallest cell
package scale
