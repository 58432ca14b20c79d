package schema

import (
	"context"

	"github.com/jackc/pgx/v5"
)

const (
	askMore = `SELECT pg_has_role(current_user::TEXT, 'admin', 'MEMBER'), has_database_privilege(current_database(), 'CREATE'),
coalesce(has_schema_privilege(current_schema(), 'CREATE'), false)`
	askRoleOption = `SELECT rolcreaterole FROM pg_catalog.pg_roles WHERE rolname = current_user`
)

func askPublicOf(schema string) string {
	return "SELECT count(*) FROM [SHOW GRANTS ON SCHEMA " + name(schema) + "] WHERE grantee = 'public' AND privilege_type IN ('CREATE', 'ALL')"
}

func (cockroach) createRole(role string) string { return "CREATE ROLE IF NOT EXISTS " + name(role) }

// privileges omits some privileges that only an owner has in CockroachDB. An example is TRUNCATE, which needs DROP.
func (cockroach) privileges() []string { return []string{"SELECT", "INSERT", "UPDATE", "DELETE"} }

// revokePublic revokes PUBLIC's right to create tables in the schema public. CockroachDB grants this right to PUBLIC unless a cluster setting forbids
// that. The migrating user may have the right only through PUBLIC, so it gets its own grant first.
func (cockroach) revokePublic(ctx context.Context, c *pgx.Conn, st roleState) (steps []ddl, problems []string, err error) {
	var creates int
	if err := c.QueryRow(ctx, askPublicOf(st.schema)).Scan(&creates); err != nil {
		return nil, nil, err
	}
	if creates > 0 {
		steps = append(steps, ddl{grantCreate(st.schema, st.user), st.user + " may create tables in the schema " + st.schema},
			ddl{revokeCreate(st.schema), "PUBLIC may no longer create tables in the schema " + st.schema})
	}
	return steps, nil, nil
}

func (cockroach) otherPrivileges(ctx context.Context, c *pgx.Conn) (out []string, err error) {
	var admin, database, schema, option bool
	if err := c.QueryRow(ctx, askMore).Scan(&admin, &database, &schema); err != nil {
		return nil, err
	}
	if admin {
		return []string{"it is a member of admin"}, nil
	}
	if err := c.QueryRow(ctx, askRoleOption).Scan(&option); err != nil {
		return nil, err
	}
	for _, each := range []struct {
		is      bool
		message string
	}{{option, "CREATEROLE"}, {database, "CREATE on the database"}, {schema, "CREATE on the schema"}} {
		if each.is {
			out = append(out, each.message)
		}
	}
	return out, nil
}

func (cockroach) isRace(code, _ string) bool { return code == "42710" }
