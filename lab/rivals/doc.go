// Package rivals compares Carve with other ways to hand out addresses and with the floor under all of them, and says which goals that
// meets: tables and one JSON from one run on one durable database. `make compare` runs it; docs/performance.md says what each contestant is.
//
// It asserts nothing about time; it fails when Carve hands out a block twice or leaves data that the audit objects to.
package rivals
