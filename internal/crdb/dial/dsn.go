// Package dial connects to the database. It also has these tasks:
//
//   - It parses the database URL and reloads credentials.
//   - It ensures that no COMMIT is cancelled.
//   - It limits the number of connections that write.
package dial

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// errReadsOnly is the error for a target_session_attrs that selects a read-only server.
var errReadsOnly = errors.New("target_session_attrs of the database URL selects a read-only server, but Carve writes: leave it out, or use target_session_attrs=primary")

// Parse parses the database URL for a program that writes, and accepts only servers that accept writes. Its error omits the cause, because the cause
// may contain a password.
func Parse(dsn string) (*pgx.ConnConfig, error) {
	cfg, err := ParseAny(dsn)
	if err != nil {
		return nil, err
	}
	return cfg, Writable(cfg)
}

// ParseAny parses the database URL and accepts every server, including one that only reads. Its error omits the cause, because the cause may contain
// a password.
func ParseAny(dsn string) (*pgx.ConnConfig, error) {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("the database URL is not valid; this message does not repeat it, because it may contain a password. A valid URL looks like postgresql://user@host:26257/carve?sslmode=verify-full")
	}
	return cfg, nil
}

// Writable changes the check for target_session_attrs in the URL.
//
// The driver's own check asks the session whether it is read-only. Carve's sessions are read-only until a transaction declares that it writes. So the
// driver would find no server that accepts writes, not even the primary. Writable replaces the check: every server accepts writes, except a standby.
// If the URL names several servers without target_session_attrs, Writable also requires the primary, because Carve can use no other server.
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

// validates reports whether the driver checks new connections with the function check. The driver keeps only the function, and not the URL's keyword.
func validates(cfg *pgx.ConnConfig, check pgconn.ValidateConnectFunc) bool {
	return cfg.ValidateConnect != nil && reflect.ValueOf(cfg.ValidateConnect).Pointer() == reflect.ValueOf(check).Pointer()
}

// severalHosts reports whether the URL names more than one server. The driver repeats a server when it tries TLS first and plain text next, so
// severalHosts ignores repetitions.
func severalHosts(cfg *pgx.ConnConfig) bool {
	return slices.ContainsFunc(cfg.Fallbacks, func(f *pgconn.FallbackConfig) bool { return f.Host != cfg.Host || f.Port != cfg.Port })
}

// isPrimary accepts every server except a standby. PostgreSQL reports at the session's start whether it is a standby. CockroachDB has no standbys. If
// a connection pooler hides the report, isPrimary asks the server.
func isPrimary(ctx context.Context, c *pgconn.PgConn) error {
	switch {
	case c.ParameterStatus("crdb_version") != "", c.ParameterStatus("in_hot_standby") == "off":
		return nil
	case c.ParameterStatus("in_hot_standby") == "on":
		return pgconn.ErrStandbyConnection
	}
	return pgconn.ValidateConnectTargetSessionAttrsPrimary(ctx, c)
}
