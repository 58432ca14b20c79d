// Package bench measures what the service costs while others are busy beside it. `make bench` runs the
// benchmarks. A timing is never asserted: each figure stands beside the same operation on an empty pool, or without the others,
// measured in the same run. What can be counted instead, as statements, is asserted in tests.
package bench
