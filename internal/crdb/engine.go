package crdb

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/dial"
)

// engine is everything that differs between the databases while a server works.
type engine interface {
	// settings are session parameters for every connection, unless the DSN sets them.
	settings() map[string]string
	// attempt runs one transaction on a connection: begin, fn, commit (or roll back when dry).
	attempt(ctx context.Context, c *conn, dry bool, fn func(ctx context.Context) error) error
	// locks says whether transactions that name what they depend on lock that instead of being SERIALIZABLE.
	locks() bool
	// byKeys says whether several rows are named by their keys, because the plan for an array of them may read what lies between them.
	byKeys() bool
	// durable is what asks whether COMMIT waits for other servers, and what gives a COMMIT something to wait for. Empty: what can be seen is durable.
	durable() (ask, write string)
	// behind is what begins a transaction of reads that may be old, and what asks of which moment they are; moment is the answer.
	behind() (begin, ask string)
	moment(row pgx.Row) (time.Time, error)
	// feed is what asks for the place of a read in the order of commits, and what reads a trail behind a place; since is from when on the ids are of
	// what is behind the place of now, by what was seen before.
	feed() (place, rows, ending string)
	since(known []feedSeen, now feedSeen) time.Time
}

// engines by the name of their product.
var engines = map[dial.Engine]engine{dial.Cockroach: cockroach{}, dial.Postgres: postgres{}}

// sharedSettings hold on both engines: whatever writes says so in its BEGIN, so that a stray write outside of a transaction
// is refused; and bounds on whatever might hang. A server that is cut off in the middle of a transaction keeps the others from what it has locked: it sits
// idle in it then, which a server that is there does for no longer than it takes to decide.
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
