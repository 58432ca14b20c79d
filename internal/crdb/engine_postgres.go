package crdb

import (
	"context"
)

// postgres implements engine for PostgreSQL 15 or newer: the embedded database and the test engine.
type postgres struct{}

// settings disables the plans that read a whole table. Every statement has an index. A sequential scan under SERIALIZABLE takes a predicate lock on
// the whole relation, so that all transactions would conflict while tables are small. Each connection makes a generic plan once, because a
// statement's best plan never depends on its arguments.
func (postgres) settings() map[string]string {
	s := sharedSettings()
	// Transactions name SERIALIZABLE in BEGIN. Single reads need one snapshot only. Under SERIALIZABLE they would take predicate locks and force
	// other transactions to retry.
	s["default_transaction_isolation"] = "repeatable read"
	s["enable_seqscan"] = "off"
	s["enable_hashjoin"] = "off"
	s["enable_mergejoin"] = "off"
	s["plan_cache_mode"] = "force_generic_plan"
	// A server that disappears without closing its connections leaves its sessions behind. By default these last two hours, and use connections for
	// that long.
	s["tcp_keepalives_idle"], s["tcp_keepalives_interval"], s["tcp_keepalives_count"], s["tcp_user_timeout"] = "5", "2", "3", "11s"
	return s
}

// locks returns true: PostgreSQL's predicate locks cover index pages, and small unrelated containers share pages.
func (postgres) locks() bool { return true }

// byKeys returns false: PostgreSQL looks up each row of an array, whatever its statistics, and one plan serves any number of rows.
func (postgres) byKeys() bool { return false }

// attempt runs one complete transaction. cockroach-go's ExecuteTx does not fit: it takes RELEASE SAVEPOINT for the commit and drops COMMIT's result,
// but COMMIT is the commit on PostgreSQL.
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

// durable returns its statements because a COMMIT can be visible before a synchronous standby has it: after a cancelled wait, or after a server
// restart during the wait. A transaction that wrote nothing does not wait, whatever it read. A message in the log is the smallest write.
func (postgres) durable() (ask, write string) {
	return `SELECT current_setting('synchronous_standby_names') <> '' AND current_setting('synchronous_commit') NOT IN ('off', 'local')`,
		`SELECT pg_logical_emit_message(true, 'carve', '')`
}
