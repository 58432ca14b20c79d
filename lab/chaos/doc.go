// Package chaos runs Carve as in production: three server processes in three regions, and one database. It injects faults. Afterwards it checks that
// nothing was lost, duplicated or reported wrongly.
//
// A seed determines the plan of a run (plan.go):
//
//   - the pools
//   - each client's requests
//   - the statements that fail
//   - the disasters, such as the kill of a server, each after a number of operations
//
// The same seed always makes the same plan, but concurrent operations may run in another order. So a claim may find the pool full in one run only. A
// fault that is due after 200 operations may hit different requests. Therefore repeat a failed seed several times.
//
//	processes    process.go: server processes, killed and started again
//	regions      region.go: a server behind its own proxy to the database, which all regions share (database.go)
//	faults       weather.go: the faults, their targets and their times; the rules of the proxies
//	operations   ops.go, client.go: the requests of clients, and how clients repeat unanswered ones
//	recorder     ledger.go: the responses that clients got, and the history of each pool for package consistency
//	checks       checks.go: the conditions that must hold afterwards
//	report       report.go: the violations, each with the part of the history that shows it
//
// The harness observes from outside: HTTP, `ipamctl audit`, metrics. It links no code of the service.
package chaos
