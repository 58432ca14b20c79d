// Package alerts is rules about how much of pools and quotas is used, and the alerts that begin and end by them.
package alerts
