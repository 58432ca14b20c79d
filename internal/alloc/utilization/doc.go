// Package utilization is how much of pools was used over time: it is recorded, kept for a while, shown, and says how long what is free will last.
package utilization
