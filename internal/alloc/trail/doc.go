// Package trail contains the audit trail and the history of blocks.
package trail
