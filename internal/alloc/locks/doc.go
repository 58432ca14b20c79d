// Package locks contains the per-pool locks of a process, and limits for slow work.
package locks
