// Package utilization records the usage of pools over time, and deletes old records. From the records it calculates a pool's history, and a forecast
// of the date on which the pool will be full.
package utilization
