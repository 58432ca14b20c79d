package schema

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/write"
)

const (
	// askPublic returns PUBLIC's rights to create tables, and whether the user may revoke them.
	askPublic = `SELECT has_schema_privilege('public', $1::TEXT, 'CREATE'), has_database_privilege('public', current_database(), 'TEMPORARY'),
(SELECT pg_has_role(nspowner, 'USAGE') FROM pg_catalog.pg_namespace WHERE nspname = $1::TEXT), (SELECT pg_has_role(datdba, 'USAGE') FROM pg_catalog.pg_database WHERE datname = current_database())`
	// askAttributes returns a user's attributes, and its privileges that are not on a table.
	askAttributes = `SELECT rolsuper, rolcreaterole, rolcreatedb, rolbypassrls, rolreplication,
pg_has_role('pg_execute_server_program', 'USAGE'), pg_has_role('pg_read_server_files', 'USAGE'), pg_has_role('pg_write_server_files', 'USAGE'),
has_database_privilege(current_database(), 'CREATE'), coalesce(has_schema_privilege(current_schema()::TEXT, 'CREATE'), false), has_database_privilege(current_database(), 'TEMPORARY')
FROM pg_catalog.pg_roles WHERE rolname = current_user`
)

var attributes = []string{
	"it is a superuser", "CREATEROLE", "CREATEDB", "BYPASSRLS", "REPLICATION",
	"pg_execute_server_program", "pg_read_server_files", "pg_write_server_files",
	"CREATE on the database", "CREATE on the schema", "TEMPORARY on the database",
}

func (postgres) createRole(role string) string { return "CREATE ROLE " + name(role) + " NOLOGIN" }

// privileges lists the table privileges that a server must not have by mistake. In PostgreSQL, TRUNCATE is a separate privilege.
func (postgres) privileges() []string {
	return []string{"SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"}
}

// revokePublic revokes two rights of PUBLIC: to create temporary tables, and to create tables in the schema. PUBLIC has the second right in clusters
// that are older than PostgreSQL 15.
func (postgres) revokePublic(ctx context.Context, c *pgx.Conn, st roleState) (steps []ddl, problems []string, err error) {
	var creates, temporary, ofSchema, ofDatabase bool
	if err := c.QueryRow(ctx, askPublic, st.schema).Scan(&creates, &temporary, &ofSchema, &ofDatabase); err != nil {
		return nil, nil, err
	}
	switch {
	case creates && ofSchema:
		steps = append(steps, ddl{revokeCreate(st.schema), "PUBLIC may no longer create tables in the schema " + st.schema})
	case creates:
		problems = append(problems, revokeCreate(st.schema))
	}
	const revokeTemporary = "REVOKE TEMPORARY ON DATABASE "
	switch {
	case temporary && ofDatabase:
		steps = append(steps, ddl{revokeTemporary + name(st.database) + " FROM PUBLIC", "PUBLIC may no longer create temporary tables"})
	case temporary:
		problems = append(problems, revokeTemporary+name(st.database)+" FROM PUBLIC")
	}
	return steps, problems, nil
}

func (postgres) otherPrivileges(ctx context.Context, c *pgx.Conn) (out []string, err error) {
	has := make([]bool, len(attributes))
	to := make([]any, len(attributes))
	for i := range has {
		to[i] = &has[i]
	}
	if err := c.QueryRow(ctx, askAttributes).Scan(to...); err != nil {
		return nil, err
	}
	if has[0] { // a superuser has all other attributes, too
		return []string{attributes[0]}, nil
	}
	for i, is := range has {
		if is {
			out = append(out, attributes[i])
		}
	}
	return out, nil
}

// isRace reports whether a concurrent change to the same role made a statement fail. The change can come from another database in the same cluster.
func (postgres) isRace(code, message string) bool {
	return code == "42710" || code == write.UniqueViolation || code == "XX000" && strings.HasPrefix(message, "tuple concurrently ")
}
