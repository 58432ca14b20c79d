// Package utilization records the usage of pools over time, and deletes old records. From the records it returns the history of a pool, and a
// forecast of how long the free space lasts.
package utilization
