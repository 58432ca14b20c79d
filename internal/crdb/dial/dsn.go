// Package dial reaches the database: its URL, credentials that are renewed, connections whose COMMIT is not given up, and how many of those there may be.
package dial

import (
	"context"
	"errors"
	"reflect"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// errReadsOnly refuses a target_session_attrs of those who only read.
var errReadsOnly = errors.New("target_session_attrs of the database URL asks for a server that takes no writes, and Carve writes: leave it out, or say target_session_attrs=primary")

// Parse reads the database URL of whoever writes, and has it reach a server that takes writes. The reason is not passed on: it may repeat a password.
func Parse(dsn string) (*pgx.ConnConfig, error) {
	cfg, err := ParseAny(dsn)
	if err != nil {
		return nil, err
	}
	return cfg, Writable(cfg)
}

// ParseAny reads the database URL of whoever only reads.
func ParseAny(dsn string) (*pgx.ConnConfig, error) {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("the database URL is not valid; it is not repeated here, because it may hold a password. It looks like postgresql://user@host:26257/carve?sslmode=verify-full")
	}
	return cfg, nil
}

// Writable gives target_session_attrs its meaning for a program whose sessions are read-only until a transaction says that it writes: to the driver,
// which asks the session, no server is read-write then, not even the primary. A server is that unless it is a standby. Where several servers are named and
// target_session_attrs is not, the primary is meant, too: no other one is of use.
func Writable(cfg *pgx.ConnConfig) error {
	switch {
	case validates(cfg, pgconn.ValidateConnectTargetSessionAttrsReadOnly),
		validates(cfg, pgconn.ValidateConnectTargetSessionAttrsStandby),
		validates(cfg, pgconn.ValidateConnectTargetSessionAttrsPreferStandby):
		return errReadsOnly
	case validates(cfg, pgconn.ValidateConnectTargetSessionAttrsReadWrite),
		validates(cfg, pgconn.ValidateConnectTargetSessionAttrsPrimary),
		severalHosts(cfg):
		cfg.ValidateConnect = isPrimary
	}
	return nil
}

// validates tells how the driver was told to look at new connections: it keeps the function, and not the word.
func validates(cfg *pgx.ConnConfig, by pgconn.ValidateConnectFunc) bool {
	return cfg.ValidateConnect != nil && reflect.ValueOf(cfg.ValidateConnect).Pointer() == reflect.ValueOf(by).Pointer()
}

// severalHosts: a host is there twice where TLS is tried first and then left.
func severalHosts(cfg *pgx.ConnConfig) bool {
	for _, f := range cfg.Fallbacks {
		if f.Host != cfg.Host || f.Port != cfg.Port {
			return true
		}
	}
	return false
}

// isPrimary accepts every server but a standby. PostgreSQL says which it is when a session begins, CockroachDB has no standbys; a pooler in between
// may keep it to itself.
func isPrimary(ctx context.Context, c *pgconn.PgConn) error {
	switch {
	case c.ParameterStatus("crdb_version") != "", c.ParameterStatus("in_hot_standby") == "off":
		return nil
	case c.ParameterStatus("in_hot_standby") == "on":
		return pgconn.ErrStandbyConnection
	}
	return pgconn.ValidateConnectTargetSessionAttrsPrimary(ctx, c)
}
