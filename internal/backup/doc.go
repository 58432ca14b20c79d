// Package backup wraps the engines' own tools: pg_dump and pg_restore on PostgreSQL, BACKUP and RESTORE on CockroachDB. It adds what the tools do
// not know: that a backup says what it is of (a manifest), that it goes only where it fits (the same engine, a schema that this program knows, the
// same regions added in the same order), and that a database which holds something is not overwritten by accident.
//
// What has to happen after a restore (migrations, new epochs, the audit) is for the caller: it needs the schema of this program, and this package
// does not.
//
// A backup is one state of the database, as of the time in its manifest. What was done later is not in it, and is not known to whoever restores it:
// addresses that were given out since then count as free. docs/runbooks/restore.md says what to do about that.
package backup
