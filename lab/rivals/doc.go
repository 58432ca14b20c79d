// Package rivals compares Carve with other ways to hand out addresses, and with the least cost that any way can have. It checks goals for the ratios
// between them. One run on one durable database writes tables and one JSON file. `make compare` runs it. docs/performance.md describes each
// contestant.
//
// No measured time fails a run. A run fails if Carve hands out a block twice, or if the audit finds a fault in Carve's data.
package rivals
