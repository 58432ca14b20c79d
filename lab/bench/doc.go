// Package bench measures the service's costs under load. `make bench` runs the benchmarks. No test fails because of a time. Instead, each benchmark
// reports its figure and, from the same run, the figure of the same operation on an empty pool or without load. Tests limit only costs that can be
// counted, such as statements.
package bench
