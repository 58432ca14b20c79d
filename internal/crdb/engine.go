package crdb

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/dial"
)

// engine contains all differences between the two databases while a server works.
type engine interface {
	// settings returns session parameters for every connection. Parameters in the DSN override them.
	settings() map[string]string
	// attempt runs one transaction on a connection: begin, fn, commit (or roll back when dry).
	attempt(ctx context.Context, c *conn, dry bool, fn func(ctx context.Context) error) error
	// usesLocks reports whether a transaction locks the rows on which it depends, if the use case names them. Otherwise every transaction is
	// SERIALIZABLE.
	usesLocks() bool
	// byKeys reports whether a statement must list the keys of several rows one by one. It is true if the engine's plan for an array of keys may also
	// read rows between these keys.
	byKeys() bool
	// durable returns a query that shows whether COMMIT waits for other servers, and a statement that makes the next COMMIT wait. Both are empty if
	// every visible row is durable.
	durable() (ask, write string)
	// staleRead returns two statements. The first begins a transaction for stale reads, and the second asks for the time of its data. moment scans
	// the second result.
	staleRead() (begin, ask string)
	moment(row pgx.Row) (time.Time, error)
	// feed returns three statements. The first reads the current position in the commit order. The second reads the events after a position. The
	// third makes PostgreSQL flush its log.
	//
	// beganAfter returns a lower bound for the time at which any transaction at or after the position in current began. earlier contains earlier
	// readings.
	feed() (position, rows, flush string)
	beganAfter(earlier []feedSeen, current feedSeen) time.Time
}

// engines maps each database product to its engine.
var engines = map[dial.Engine]engine{dial.Cockroach: cockroach{}, dial.Postgres: postgres{}}

// sharedSettings returns the session parameters for both engines.
//
// Sessions are read-only by default, and a transaction that writes must declare this in BEGIN. So the database refuses every write outside a
// transaction. Such a write is always a bug.
//
// The timeouts limit every wait that could last forever. If a server is cut off inside a transaction, its session stays idle and keeps its locks. The
// idle timeout ends such a session. It is longer than any pause of a live server inside a transaction.
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
