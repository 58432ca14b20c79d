package schema

import (
	"strings"
)

// TableGrants says what each role may do with the rows of a table. Whoever migrates owns them all.
type TableGrants struct{ Table, Server, Retention, Reader string }

// Grants is what `ipamctl migrate` gives to each role, and nothing beyond it. It is what the statements need that the role runs: those of the server
// and of retention are in query/ (a head says `roles:` where it is not the server), those of the reader in audit/. A test in tools/sqlcheck adds them up
// and compares, in both directions; another one takes each away on PostgreSQL, and demands that a statement fails.
//
// A privilege that this version does not need and a server of the version before does stays here for one version more, or the two could not work side
// by side: migrating takes back whatever is not here.
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

// Role is what a program speaks to the database for.
type Role string

// The roles. Each is a group role in the database, called by a prefix and this.
const (
	ServerRole    Role = "server"
	RetentionRole Role = "retention"
	ReaderRole    Role = "reader"
)

// Name is what a role is called in the database, of an installation with that prefix.
func (r Role) Name(prefix string) string { return prefix + "_" + string(r) }

// roles in the order in which they are told.
var roles = []Role{ServerRole, RetentionRole, ReaderRole}

// privilege is one that is had or not had on a table.
type privilege struct{ table, name string }

func (p privilege) String() string { return p.name + " on " + p.table }

// needs are the privileges of a role, by table and in the order of Grants.
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
