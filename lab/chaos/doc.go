// Package chaos runs Carve as in production: three server processes in three regions, and one database. It injects faults, and then checks that
// nothing was lost, duplicated or reported wrongly.
//
// A seed determines a run: the pools, each client's requests, and the statements that fail. It also determines the operation counts at which a server
// is killed, a region is cut off or the database restarts. plan.go makes the plan, and the same seed makes the same plan. Only the order of
// concurrent operations differs between two runs of one seed. So a claim may find the pool full in one run only, and a fault that is due after 200
// operations hits different requests. Repeat a failed seed several times for that reason.
//
//	processes    process.go: server processes, killed and started again
//	regions      region.go: a server behind its own proxy to the one database (database.go)
//	faults       weather.go: the faults, their targets and their times; the rules of the proxies
//	operations   ops.go, client.go: the requests of clients, and how clients repeat unanswered ones
//	recorder     ledger.go: the responses that clients got; histories by pool for package consistency
//	checks       checks.go: the conditions that must hold afterwards
//	report       report.go: the violations, with the part of the history that shows each
//
// The harness observes from outside: HTTP, `ipamctl audit`, metrics. It links no code of the service.
package chaos
