package crdb

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/dial"
)

// engine contains all differences between the databases while a server works.
type engine interface {
	// settings returns session parameters for every connection. Parameters in the DSN override them.
	settings() map[string]string
	// attempt runs one transaction on a connection: begin, fn, commit (or roll back when dry).
	attempt(ctx context.Context, c *conn, dry bool, fn func(ctx context.Context) error) error
	// locks reports whether a transaction that names its dependencies locks them and is not SERIALIZABLE.
	locks() bool
	// byKeys reports whether statements name several rows by single keys, because the plan for a key array may read rows between them.
	byKeys() bool
	// durable returns a query that shows whether COMMIT waits for other servers, and a statement that makes the next COMMIT wait. Both are empty if
	// all visible rows are durable.
	durable() (ask, write string)
	// stalePool returns the statement that begins a transaction of stale reads, and the query for its time; moment scans the result.
	behind() (begin, ask string)
	moment(row pgx.Row) (time.Time, error)
	// feed returns three statements: the first reads the current place in the commit order, the second reads a trail after a place, the third makes
	// PostgreSQL flush its log. since returns a lower bound for the start of every transaction at or after now's place, given the moments in known.
	feed() (place, rows, ending string)
	since(known []feedSeen, now feedSeen) time.Time
}

// engines maps a database product to its engine.
var engines = map[dial.Engine]engine{dial.Cockroach: cockroach{}, dial.Postgres: postgres{}}

// sharedSettings returns the parameters for both engines. Sessions are read-only by default, so that a stray write outside a transaction is refused:
// a transaction that writes declares it in BEGIN. The timeouts bound everything that might hang. A server that is cut off inside a transaction leaves
// the session idle and its locks taken; the idle timeout ends that session. It is longer than a live server ever takes to decide.
func sharedSettings() map[string]string {
	return map[string]string{
		"application_name":                    "carve",
		"default_transaction_isolation":       "serializable",
		"default_transaction_read_only":       "on",
		"statement_timeout":                   "10s",
		"lock_timeout":                        "5s",
		"idle_in_transaction_session_timeout": "3s",
	}
}
