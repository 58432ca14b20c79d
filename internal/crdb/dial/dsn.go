// Package dial connects to the database. It parses the URL, reloads credentials, keeps a COMMIT from being cancelled, and limits the writing
// connections.
package dial

import (
	"context"
	"errors"
	"reflect"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// errReadsOnly is the error for a target_session_attrs that asks for a read-only server.
var errReadsOnly = errors.New("target_session_attrs of the database URL selects a read-only server, but Carve writes: leave it out, or use target_session_attrs=primary")

// Parse parses a writing program's database URL, and restricts it to servers that accept writes. Its error omits the cause, which may contain a
// password.
func Parse(dsn string) (*pgx.ConnConfig, error) {
	cfg, err := ParseAny(dsn)
	if err != nil {
		return nil, err
	}
	return cfg, Writable(cfg)
}

// ParseAny parses the database URL for a program that only reads.
func ParseAny(dsn string) (*pgx.ConnConfig, error) {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("the database URL is not valid; this message does not repeat it, because it may contain a password. A valid URL looks like postgresql://user@host:26257/carve?sslmode=verify-full")
	}
	return cfg, nil
}

// Writable redefines target_session_attrs for Carve: its sessions are read-only until a transaction declares that it writes. The driver asks the
// session, and so would find no server read-write, not even the primary. Here every server is read-write except a standby. If the URL names several
// servers without target_session_attrs, Writable requires the primary too, because no other server is useful.
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

// validates reports whether the driver uses this function to check new connections. The driver keeps the function, not the keyword.
func validates(cfg *pgx.ConnConfig, by pgconn.ValidateConnectFunc) bool {
	return cfg.ValidateConnect != nil && reflect.ValueOf(cfg.ValidateConnect).Pointer() == reflect.ValueOf(by).Pointer()
}

// severalHosts ignores repeated hosts, which appear when TLS is tried first and plain text next.
func severalHosts(cfg *pgx.ConnConfig) bool {
	for _, f := range cfg.Fallbacks {
		if f.Host != cfg.Host || f.Port != cfg.Port {
			return true
		}
	}
	return false
}

// isPrimary accepts every server except a standby. PostgreSQL reports its state when a session begins. CockroachDB has no standbys. A pooler may hide
// the state.
func isPrimary(ctx context.Context, c *pgconn.PgConn) error {
	switch {
	case c.ParameterStatus("crdb_version") != "", c.ParameterStatus("in_hot_standby") == "off":
		return nil
	case c.ParameterStatus("in_hot_standby") == "on":
		return pgconn.ErrStandbyConnection
	}
	return pgconn.ValidateConnectTargetSessionAttrsPrimary(ctx, c)
}
