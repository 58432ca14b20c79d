// Package utilization records the usage of pools over time, keeps it for a while, shows it, and forecasts how long the free space lasts.
package utilization
