package schema

// Queries about roles and privileges for both engines. They read the system catalogue, so they are not in the package query.
const (
	askSelf  = `SELECT current_user::TEXT, current_database()::TEXT, coalesce(current_schema()::TEXT, '')`
	askRoles = `SELECT rolname::TEXT, rolsuper OR rolcreaterole FROM pg_catalog.pg_roles WHERE rolname::TEXT = ANY ($1::TEXT[])`
	// askGranted returns the privileges that were granted to a role directly.
	askGranted = `SELECT grantee::TEXT, table_name::TEXT, privilege_type::TEXT FROM information_schema.table_privileges
WHERE table_schema = $1 AND grantee::TEXT = ANY ($2::TEXT[])`
	askMembers = `SELECT r.rolname::TEXT, m.rolname::TEXT FROM pg_catalog.pg_auth_members AS a
JOIN pg_catalog.pg_roles AS r ON r.oid = a.roleid JOIN pg_catalog.pg_roles AS m ON m.oid = a.member WHERE r.rolname::TEXT = ANY ($1::TEXT[])`
	askReach = `SELECT n.name, has_database_privilege(n.name, current_database()::TEXT, 'CONNECT'), has_schema_privilege(n.name, $2::TEXT, 'USAGE')
FROM unnest($1::TEXT[]) AS n (name)`
	askVersioned = `SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_tables WHERE tablename = 'goose_db_version')`
	askApplied   = `SELECT max(version_id) FROM goose_db_version`
	// askMay returns the privileges that the current user has, directly or through roles.
	askMay   = `SELECT n.t, n.p FROM unnest($1::TEXT[], $2::TEXT[]) AS n (t, p) WHERE has_table_privilege(n.t, n.p)`
	askOwner = `SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = current_schema() AND pg_has_role(tableowner, 'USAGE'))`
)

// Statements that change roles and privileges.
func grantTables(privileges, tables, role string) string {
	return "GRANT " + privileges + " ON TABLE " + tables + " TO " + name(role)
}

func revokeTables(privileges, tables, role string) string {
	return "REVOKE " + privileges + " ON TABLE " + tables + " FROM " + name(role)
}

func grantConnect(database, role string) string {
	return "GRANT CONNECT ON DATABASE " + name(database) + " TO " + name(role)
}

func revokeCreate(schema string) string {
	return "REVOKE CREATE ON SCHEMA " + name(schema) + " FROM PUBLIC"
}

func grantCreate(schema, user string) string {
	return "GRANT CREATE ON SCHEMA " + name(schema) + " TO " + name(user)
}
