// Package backup wraps the engines' own tools: pg_dump and pg_restore on PostgreSQL, BACKUP and RESTORE on CockroachDB. It adds a manifest that
// describes a backup, and checks before a restore: the same engine, a schema that this program knows, and the same regions, added in the same order.
// It does not overwrite a database with data by accident.
//
// The caller does the work after a restore (migrations, new epochs, the audit): it needs this program's schema, and this package does not.
//
// A backup is one state of the database, as of the time in its manifest. It lacks all later changes: after a restore, addresses that were allocated
// since then count as free. docs/runbooks/restore.md explains how to handle that.
package backup
