// Package trail is the audit trail and the history of blocks.
package trail
