package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/devdb"
)

// rolePrefix begins all role names in the embedded database.
const rolePrefix = "carve"

// embeddedRoles returns the roles for the embedded database. With them, the server has only the rights that it needs. So developers notice a missing
// right, and not only operators. The roles do not protect the data, because everyone who can reach the embedded database is its owner.
func embeddedRoles() schema.RoleOptions {
	return schema.RoleOptions{Mode: schema.RolesAuto, Prefix: rolePrefix}
}

// role returns the database role that the server takes on. That is the server role in an embedded PostgreSQL. In any other database it is "", which
// keeps the connecting user's rights.
func (a *App) role(c Config) string {
	if a.embedded == nil || devdb.Engine(c.Embedded) != devdb.Postgres {
		return ""
	}
	return schema.ServerRole.Name(rolePrefix)
}

// checkUser returns an error if the database user lacks a right that the server needs. It logs a warning if the user has more rights than a server
// needs.
func (a *App) checkUser(ctx context.Context, c Config) error {
	standing, err := schema.CheckUser(ctx, a.dsn, schema.ServerRole)
	if err != nil {
		return err
	}
	a.retains = standing.Retains
	if len(standing.More) > 0 {
		a.Log.WarnContext(ctx, "the database user has more rights than a server needs; `ipamctl migrate --server-user` makes a user with fewer rights",
			"user", standing.User, "more", strings.Join(standing.More, "; "))
	}
	if !a.retains && c.mustRetain {
		return fmt.Errorf("--audit-retention=%[1]s --history-retention=%[2]s: the database user %[3]q may not delete records of the audit trail and of the history, as intended; "+
			"leave out the flags, and run `ipamctl retention --audit-retention %[1]s --history-retention %[2]s` as the user of `ipamctl migrate --retention-user`, for example once a day",
			c.AuditRetention, c.HistoryRetention, standing.User)
	}
	return nil
}

// openRetention selects the store that deletes expired records. If the database user may not delete them, it selects none, and an operator must run
// `ipamctl retention`.
func (a *App) openRetention(ctx context.Context, c Config) (err error) {
	switch {
	case a.role(c) != "": // a.store takes on the server role, which may not delete records; the connecting user may
		a.retention, err = crdb.Open(ctx, a.dsn, crdb.Options{Region: c.Region, MaxConnections: 2, Log: a.Log, Tracer: a.statementTracer()})
	case a.embedded != nil || a.retains:
		a.retention = a.store
	default:
		a.Log.InfoContext(ctx, "records of the audit trail and of deleted projects stay until `ipamctl retention` runs: the database user may not delete them")
	}
	return err
}
