// Package bench measures the service's costs under load. `make bench` runs the benchmarks. No test asserts a time: each benchmark compares its figure
// with the same operation on an empty pool, or without the load, in the same run. Tests assert costs that can be counted, such as statements.
package bench
