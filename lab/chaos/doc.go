// Package chaos runs Carve as it runs in earnest (three server processes in three regions, one database) through faults, and
// then asks whether anything was lost, doubled or told wrongly.
//
// A run is made from a seed: the pools, what each client asks for, which statements fail, and after how many operations
// a server is killed, a region cut off or the database restarted. plan.go makes it; the same seed makes the same plan. What is
// not the same twice is who comes first: the clients are concurrent, so that a claim may find the pool full in one run and
// not in the next, and a fault that is due after 200 operations meets whatever is under way then. A seed that failed is
// therefore run again a few times, not once.
//
//	processes    process.go: server processes, killed and started again
//	regions      region.go: a server behind a proxy of its own to the one database (database.go)
//	faults       weather.go: what happens to whom, when; the proxies' rules
//	operations   ops.go, client.go: what clients ask for, and how they repeat what was not answered
//	recorder     ledger.go: what clients were told; histories by pool for package consistency
//	checks       checks.go: what must hold afterwards
//	report       report.go: what was violated, with the history's part that shows it
//
// The harness looks from outside: HTTP, `ipamctl audit`, metrics. Nothing of the service is linked into it.
package chaos
