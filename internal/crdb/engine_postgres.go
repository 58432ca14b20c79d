package crdb

import "context"

// postgres implements engine for PostgreSQL 15 or newer. It serves the embedded database and most tests.
type postgres struct{}

// settings disables the plans that read a whole table, because every statement has an index. Under SERIALIZABLE, a sequential scan takes a predicate
// lock on the whole table. While tables are small, the planner prefers such scans, and all transactions would conflict. Each connection makes one
// generic plan for a statement, because the best plan never depends on the arguments.
func (postgres) settings() map[string]string {
	s := sharedSettings()
	// Each writing transaction names its isolation level in BEGIN. A single read needs only one snapshot. Under SERIALIZABLE it would take predicate locks,
	// and other transactions would have to retry.
	s["default_transaction_isolation"] = "repeatable read"
	s["enable_seqscan"] = "off"
	s["enable_hashjoin"] = "off"
	s["enable_mergejoin"] = "off"
	s["plan_cache_mode"] = "force_generic_plan"
	// If a server disappears without closing its connections, its sessions remain. By default PostgreSQL ends such a session only after two hours.
	// Until then the session uses a connection.
	s["tcp_keepalives_idle"], s["tcp_keepalives_interval"], s["tcp_keepalives_count"], s["tcp_user_timeout"] = "5", "2", "3", "11s"
	return s
}

// usesLocks returns true. PostgreSQL's predicate locks cover whole index pages, and small unrelated containers share pages.
func (postgres) usesLocks() bool { return true }

// byKeys returns false. PostgreSQL looks up each row by its key, whatever its statistics are. So one plan serves all array lengths.
func (postgres) byKeys() bool { return false }

// attempt runs one complete transaction. It does not use cockroach-go's ExecuteTx, which expects RELEASE SAVEPOINT to be the commit and ignores
// COMMIT's result. On PostgreSQL the commit is COMMIT.
func (postgres) attempt(ctx context.Context, c *conn, dry bool, fn func(ctx context.Context) error) error {
	if err := fn(ctx); err != nil {
		c.rollback(ctx)
		return err
	}
	if dry {
		c.rollback(ctx)
		return nil
	}
	return c.commit(ctx)
}

// durable returns two statements, because on PostgreSQL a COMMIT can be visible before a synchronous standby has it. This happens if the wait for the
// standby is cancelled, or if the server restarts during the wait. The second statement is a write, because a transaction that wrote nothing does not
// wait for the standby. A message in the log is the smallest write.
func (postgres) durable() (ask, write string) {
	return `SELECT current_setting('synchronous_standby_names') <> '' AND current_setting('synchronous_commit') NOT IN ('off', 'local')`,
		`SELECT pg_logical_emit_message(true, 'carve', '')`
}
