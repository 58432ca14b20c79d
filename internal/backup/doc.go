// Package backup wraps the engines' own tools: pg_dump and pg_restore on PostgreSQL, BACKUP and RESTORE on CockroachDB. It adds a manifest that
// describes the backup. Before a restore, it checks that the backup fits the database. The engine must be the same, this program must know the
// schema, and the regions must be the same, added in the same order. It replaces existing data only if the caller allows that.
//
// The caller does the work after a restore. It migrates the schema, renews the versions (epochs) that servers compare with their caches, and runs the
// audit. These steps need the current schema, but this package does not.
//
// A backup is the database's state at the time in its manifest. It lacks all later changes. After a restore, addresses that were allocated later
// count as free. docs/runbooks/restore.md explains how to handle that.
package backup
