package crdb

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// engine is everything that differs between the databases.
type engine interface {
	name() string
	// settings are session parameters for every connection, unless the DSN sets them.
	settings() map[string]string
	// attempt runs one transaction on a connection: begin, fn, commit (or roll back when dry).
	attempt(ctx context.Context, c *conn, dry bool, fn func(ctx context.Context) error) error
	// locks says whether transactions that name what they depend on lock that instead of being SERIALIZABLE.
	locks() bool
	// durable is what asks whether COMMIT waits for other servers, and what gives a COMMIT something to wait for. Empty: what can be seen is durable.
	durable() (ask, write string)
	// behind is what begins a transaction of reads that may be old, and what asks of which moment they are; moment is the answer.
	behind() (begin, ask string)
	moment(row pgx.Row) (time.Time, error)
	// standing reads what the database says of its regions.
	standing(ctx context.Context, c *pgx.Conn) (standing, error)
	// regionSteps are what brings it to the regions and the survival goal that are asked for, or why that cannot be.
	regionSteps(s standing, o MigrateOptions) ([]ddl, error)
	// migrating is what a connection that makes tables asks for; locked is which of ours are locked against changes of their schema.
	migrating() map[string]string
	locked(ctx context.Context, c *pgx.Conn) ([]string, error)
	// localities are what brings each table to its place, in a database of so many regions.
	localities(ctx context.Context, c *pgx.Conn, regions int) ([]ddl, error)
	// createRole is the statement that makes a group role; raced tells an error of somebody else's being at the same role at the same moment.
	createRole(role string) string
	raced(code, message string) bool
	// closed is what takes DDL from everybody, and what the user cannot take; privileges are those on a table that a user may have, and more is what he
	// may beside them.
	closed(ctx context.Context, c *pgx.Conn, st roleState) (steps []ddl, problems []string, err error)
	privileges() []string
	more(ctx context.Context, c *pgx.Conn) ([]string, error)
	// beforeAudit is what makes a connection fit for statements that read whole tables, and end when their caller has gone; auditLevel gives those one snapshot.
	beforeAudit() []string
	auditLevel() pgx.TxIsoLevel
	// gateway is the region that a connection ends in; empty where the database cannot know.
	gateway(ctx context.Context, c *pgx.Conn) (string, error)
}

func detect(ctx context.Context, cfg *pgx.ConnConfig) (engine, error) {
	c, err := pgx.ConnectConfig(ctx, cfg.Copy())
	if err != nil {
		return nil, fmt.Errorf("cannot connect to the database: %w", err)
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	return detectOn(ctx, c)
}

func detectOn(ctx context.Context, c *pgx.Conn) (engine, error) {
	var version string
	if err := c.QueryRow(ctx, "SELECT version()").Scan(&version); err != nil {
		return nil, fmt.Errorf("cannot ask the database for its version: %w", err)
	}
	switch {
	case strings.HasPrefix(version, "CockroachDB"):
		return cockroach{}, nil
	case strings.HasPrefix(version, "PostgreSQL"):
		return postgres{}, nil
	default:
		return nil, fmt.Errorf("the database is neither CockroachDB nor PostgreSQL: %s", version)
	}
}

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
