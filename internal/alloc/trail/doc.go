// Package trail has the audit trail and the history of blocks.
package trail
