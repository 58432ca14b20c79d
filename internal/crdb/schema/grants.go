package schema

import (
	"strings"
)

// TableGrants contains the privileges of each role on a table. The migrating user owns all tables, so it needs no grant.
type TableGrants struct{ Table, Server, Retention, Reader string }

// Grants returns the privileges that `ipamctl migrate` gives to each role. Each role has exactly the privileges that its statements need. Statements
// of the server and of retention are in query/. If a statement belongs to another role than the server, its header has a line `roles:`. Statements of
// the reader are in audit/.
//
// Two tests check the list. A test in tools/sqlcheck compares it with the statements. Another test revokes each privilege on PostgreSQL, and requires
// that a statement then fails.
//
// A migration revokes every privilege that is not listed. So a privilege that only servers of the previous version need stays in the list for one
// more version. Otherwise both versions could not work side by side.
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

// Role is the purpose for which a program uses the database.
type Role string

// The roles. In the database, each one is a group role. Its name consists of a prefix and this word.
const (
	ServerRole    Role = "server"
	RetentionRole Role = "retention"
	ReaderRole    Role = "reader"
)

// Name returns the name of the role in the database. prefix belongs to the installation.
func (r Role) Name(prefix string) string { return prefix + "_" + string(r) }

// roles lists the roles in the order in which messages name them.
var roles = []Role{ServerRole, RetentionRole, ReaderRole}

// privilege is one privilege on a table.
type privilege struct{ table, name string }

func (p privilege) String() string { return p.name + " on " + p.table }

// needs returns the privileges of a role, by table and in the order of Grants.
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
