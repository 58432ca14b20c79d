// Package rivals compares Carve with other ways to hand out addresses, and with the least cost that any way can have. It checks goals for the ratios.
// One run on one durable database gives tables and one JSON. `make compare` runs it; docs/performance.md describes each contestant.
//
// It asserts nothing about time. It fails when Carve hands out a block twice or leaves data in which the audit finds a fault.
package rivals
