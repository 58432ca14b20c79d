package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/devdb"
)

// rolePrefix begins the names of the roles in the embedded database.
const rolePrefix = "carve"

// embeddedRoles are made in the embedded database, so that a server on it works with what a server needs, and what it lacks is found here and not in
// production. It is practice and no border: whoever reaches that database is its owner.
func embeddedRoles() schema.RoleOptions {
	return schema.RoleOptions{Mode: schema.RolesAuto, Prefix: rolePrefix}
}

// role is the database role that the server works with: the server's in an embedded PostgreSQL, otherwise whatever the user has.
func (a *App) role(c Config) string {
	if a.embedded == nil || devdb.Engine(c.Embedded) != devdb.Postgres {
		return ""
	}
	return schema.ServerRole.Name(rolePrefix)
}

// checkUser refuses a database user who lacks something, and warns of one who has more than a server needs.
func (a *App) checkUser(ctx context.Context, c Config) error {
	standing, err := schema.CheckUser(ctx, a.dsn, schema.ServerRole)
	if err != nil {
		return err
	}
	a.retains = standing.Retains
	if len(standing.More) > 0 {
		a.Log.WarnContext(ctx, "the database user may do more than a server needs; `ipamctl migrate --server-user` makes one that may not",
			"user", standing.User, "more", strings.Join(standing.More, "; "))
	}
	if !a.retains && c.mustRetain {
		return fmt.Errorf("--audit-retention=%[1]s --history-retention=%[2]s: the database user %[3]q may not delete records of the audit trail and of the history, which is as it should be; "+
			"leave the flags out, and run `ipamctl retention --audit-retention %[1]s --history-retention %[2]s` as the user of `ipamctl migrate --retention-user`, once a day, say",
			c.AuditRetention, c.HistoryRetention, standing.User)
	}
	return nil
}

// openRetention finds who deletes what is too old: nobody, where the database user may not; `ipamctl retention` does it then.
func (a *App) openRetention(ctx context.Context, c Config) (err error) {
	switch {
	case a.role(c) != "": // the store's sessions may not, and their user may
		a.retention, err = crdb.Open(ctx, a.dsn, crdb.Options{Region: c.Region, MaxConnections: 2, Log: a.Log, Tracer: a.statementTracer()})
	case a.embedded != nil || a.retains:
		a.retention = a.store
	default:
		a.Log.InfoContext(ctx, "records of the audit trail, and what deleted projects leave behind, stay until `ipamctl retention` is run: the database user may not delete them")
	}
	return err
}
