package crdb

import (
	"context"
)

// postgres is PostgreSQL 15 or newer: the embedded database and the test engine.
type postgres struct{}

// settings switch off the plans that read a whole table: every statement has an index, and a sequential scan under
// SERIALIZABLE takes a predicate lock on the whole relation, so that all transactions would conflict while tables are small.
// Generic plans are made once for each connection: the best plan of no statement depends on its arguments.
func (postgres) settings() map[string]string {
	s := sharedSettings()
	// Transactions begin SERIALIZABLE in so many words. Single reads need one snapshot only, and as SERIALIZABLE they would
	// take predicate locks and make transactions of others run again.
	s["default_transaction_isolation"] = "repeatable read"
	s["enable_seqscan"] = "off"
	s["enable_hashjoin"] = "off"
	s["enable_mergejoin"] = "off"
	s["plan_cache_mode"] = "force_generic_plan"
	// A server that is gone without a word leaves its sessions behind: two hours by default, and as long as that they count.
	s["tcp_keepalives_idle"], s["tcp_keepalives_interval"], s["tcp_keepalives_count"], s["tcp_user_timeout"] = "5", "2", "3", "11s"
	return s
}

// locks: predicate locks are those of index pages here, and the rows of unrelated small containers share pages.
func (postgres) locks() bool { return true }

// byKeys: each row of an array is looked up, whatever is known about its table, and it is one plan for any number of them.
func (postgres) byKeys() bool { return false }

// attempt is one whole transaction. cockroach-go's ExecuteTx is wrong here: it takes RELEASE SAVEPOINT for the commit and
// drops the result of COMMIT, which on PostgreSQL is the commit.
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

// durable: what a COMMIT did can be seen before a synchronous standby has it, when its wait was cancelled, or when the server was started again in the
// middle of it. A transaction that did nothing does not wait, whatever it read; a message in the log is the least that it can do.
func (postgres) durable() (ask, write string) {
	return `SELECT current_setting('synchronous_standby_names') <> '' AND current_setting('synchronous_commit') NOT IN ('off', 'local')`,
		`SELECT pg_logical_emit_message(true, 'carve', '')`
}
