// Package bench measures what the service costs as the work grows. It holds benchmarks only; `make bench` runs them. A timing
// is never asserted: each figure stands beside the same operation on an empty pool, measured in the same run.
package bench
