// Package locks contains the locks on pools and spaces in one process, and the limits for slow work.
package locks
