// Package rivals compares Carve with other ways to hand out addresses and with the floor under all of them: one table and one JSON
// from one run on one private, durable PostgreSQL. `make compare` runs it; docs/evidence.md says what each contestant is.
//
// It measures and asserts nothing about time; it fails when Carve hands out
// a block twice or leaves data that the audit objects to.
package rivals
