package schema

import (
	"strings"
)

// TableGrants contains each role's privileges on a table. The migrating user owns all tables.
type TableGrants struct{ Table, Server, Retention, Reader string }

// Grants returns the privileges that `ipamctl migrate` gives to each role. The role's statements need exactly these. The server and retention have
// their statements in query/ (a header line `roles:` names a role other than the server), the reader in audit/. A test in tools/sqlcheck compares
// both sides. Another test revokes each privilege on PostgreSQL, and requires that a statement fails.
//
// A privilege that only the previous version's servers need stays here for one more version, so that both versions can work side by side: a migration
// revokes every privilege that is not listed.
func Grants() []TableGrants {
	return []TableGrants{
		{"alert_rules", "SELECT, INSERT, UPDATE, DELETE", "", "SELECT"},
		{"alerts", "SELECT, INSERT, DELETE", "", "SELECT"},
		{"api_keys", "SELECT, INSERT, UPDATE, DELETE", "", "SELECT"},
		{"attachments", "SELECT, INSERT, DELETE", "", "SELECT"},
		{"audit_events", "SELECT, INSERT", "SELECT, DELETE", "SELECT"},
		{"classes", "SELECT, INSERT, UPDATE, DELETE", "", "SELECT"},
		{"compatibility", "SELECT", "SELECT", "SELECT"},
		{"consumers", "SELECT, INSERT, UPDATE, DELETE", "", "SELECT"},
		{"deliveries", "SELECT, INSERT, UPDATE, DELETE", "", "SELECT"},
		{"feed", "SELECT, INSERT", "SELECT, UPDATE", ""},
		{"fences", "SELECT, INSERT, UPDATE, DELETE", "", "SELECT"},
		{"free_blocks", "SELECT, INSERT, DELETE", "", "SELECT"},
		{"goose_db_version", "SELECT", "SELECT", ""},
		{"goose_lock", "", "", ""},
		{"grants", "SELECT, INSERT, DELETE", "", "SELECT"},
		{"history", "SELECT, INSERT", "SELECT, DELETE", "SELECT"},
		{"holds", "SELECT, INSERT, UPDATE, DELETE", "", "SELECT"},
		{"idempotency_keys", "SELECT, INSERT, DELETE", "", ""},
		{"members", "SELECT, INSERT, UPDATE, DELETE", "", "SELECT"},
		{"pool_classes", "SELECT, INSERT, DELETE", "", "SELECT"},
		{"pool_regions", "SELECT, INSERT, UPDATE, DELETE", "", "SELECT"},
		{"pools", "SELECT, INSERT, UPDATE, DELETE", "", "SELECT"},
		{"project_regions", "SELECT, INSERT, DELETE", "", "SELECT"},
		{"projects", "SELECT, INSERT, UPDATE, DELETE", "SELECT", "SELECT"},
		{"quota_shards", "SELECT, INSERT, UPDATE, DELETE", "", "SELECT"},
		{"quotas", "SELECT, INSERT, UPDATE, DELETE", "", "SELECT"},
		{"realms", "SELECT, INSERT, UPDATE, DELETE", "", "SELECT"},
		{"region_blocks", "SELECT, INSERT, DELETE", "", "SELECT"},
		{"regions", "SELECT", "SELECT", "SELECT"},
		{"removals", "INSERT", "SELECT, DELETE", "SELECT"},
		{"sessions", "SELECT, INSERT, UPDATE, DELETE", "", ""},
		{"spaces", "SELECT, INSERT, UPDATE, DELETE", "", "SELECT"},
		{"stocks", "SELECT, INSERT, UPDATE, DELETE", "", "SELECT"},
		{"utilization", "SELECT, INSERT, UPDATE, DELETE", "", "SELECT"},
		{"webhooks", "SELECT, INSERT, UPDATE, DELETE", "", "SELECT"},
	}
}

// Role is the purpose of a program's database access.
type Role string

// The roles. Each is a group role in the database, named by a prefix and this word.
const (
	ServerRole    Role = "server"
	RetentionRole Role = "retention"
	ReaderRole    Role = "reader"
)

// Name returns the role's name in the database, for an installation with this prefix.
func (r Role) Name(prefix string) string { return prefix + "_" + string(r) }

// roles lists the roles in the order of messages.
var roles = []Role{ServerRole, RetentionRole, ReaderRole}

// privilege is one privilege on a table.
type privilege struct{ table, name string }

func (p privilege) String() string { return p.name + " on " + p.table }

// needs returns a role's privileges, by table and in the order of Grants.
func (r Role) needs() (out []privilege) {
	for _, g := range Grants() {
		said := map[Role]string{ServerRole: g.Server, RetentionRole: g.Retention, ReaderRole: g.Reader}[r]
		for name := range strings.SplitSeq(said, ", ") {
			if name != "" {
				out = append(out, privilege{g.Table, name})
			}
		}
	}
	return out
}
