package schema

import "slices"

// Table is a migrated table: its locality on CockroachDB with the reason, and each role's privileges. The migrating user owns all tables, so it needs
// no grant.
type Table struct {
	Name                      string
	Locality                  Locality
	Server, Retention, Reader string
	Reason                    string // the reason for the locality
}

// Tables returns every migrated table, including goose's two tables.
//
// If a table's primary key begins with region, the table is regional by row. Otherwise it is not.
//
// `ipamctl migrate` gives each role exactly the privileges that its statements need. Statements for the server and for retention are in query/. If a
// statement belongs to another role than the server, its header has a line `roles:`. Statements for the reader are in audit/. Two tests check the
// privileges. A test in tools/sqlcheck compares them with the statements. Another test revokes each one on PostgreSQL, and requires that a statement
// then fails.
//
// A migration revokes every privilege that is not listed. So a privilege that only the previous version's servers need stays in the list for one more
// version. Otherwise both versions could not work side by side.
func Tables() []Table {
	return []Table{
		{"alert_rules", RegionalByRow, "SELECT, INSERT, UPDATE, DELETE", "", "SELECT", "rules of alerts: written with every check"},
		{"alerts", RegionalByRow, "SELECT, INSERT, DELETE", "", "SELECT", "current alerts: in the region of their rules"},
		{"api_keys", Global, "SELECT, INSERT, UPDATE, DELETE", "", "SELECT", "read by requests everywhere; the last use is written in the background"},
		{"attachments", RegionalByRow, "SELECT, INSERT, DELETE", "", "SELECT", "consumers of a claim: in the region of the claim"},
		{"audit_events", RegionalByRow, "SELECT, INSERT", "SELECT, DELETE", "SELECT", "audit trail: every change appends to it"},
		{"classes", Global, "SELECT, INSERT, UPDATE, DELETE", "", "SELECT", "read by claims everywhere, changed by operators"},
		{"compatibility", Global, "SELECT", "SELECT", "SELECT", "versions that may use the database: read often by all servers, written only by ipamctl migrate"},
		{"consumers", RegionalByRow, "SELECT, INSERT, UPDATE, DELETE", "", "SELECT", "users of claims: renewed often"},
		{"deliveries", RegionalByRow, "SELECT, INSERT, UPDATE, DELETE", "", "SELECT", "deliveries to webhooks: in the region of the webhook"},
		{"feed", Global, "SELECT, INSERT", "SELECT, UPDATE", "", "key for the cursors of the feed: read by followers, written by retention"},
		{"fences", RegionalByRow, "SELECT, INSERT, UPDATE, DELETE", "", "SELECT", "version and stock of a container: written by every claim and release"},
		{"free_blocks", RegionalByRow, "SELECT, INSERT, DELETE", "", "SELECT", "free blocks: written by every claim and release"},
		{"goose_db_version", RegionalByTable, "SELECT", "SELECT", "", "applied migrations: read when a server starts"},
		{"goose_lock", RegionalByTable, "", "", "", "lease of a migration"},
		{"grants", Global, "SELECT, INSERT, DELETE", "", "SELECT", "read by claims everywhere, changed by providers"},
		{"history", RegionalByRow, "SELECT, INSERT", "SELECT, DELETE", "SELECT", "past holders of blocks: every release appends to it"},
		{"holds", RegionalByRow, "SELECT, INSERT, UPDATE, DELETE", "", "SELECT", "claims and other allocations: written by every claim and release"},
		{"idempotency_keys", RegionalByRow, "SELECT, INSERT, DELETE", "", "", "responses for retries: written by every request with a key"},
		{"members", Global, "SELECT, INSERT, UPDATE, DELETE", "", "SELECT", "read by requests everywhere, changed by admins"},
		{"pool_classes", Global, "SELECT, INSERT, DELETE", "", "SELECT", "read by claims everywhere, changed with a pool's classes"},
		{"pool_regions", Global, "SELECT, INSERT, UPDATE, DELETE", "", "SELECT", "read by claims of pools in several regions; written when blocks are lent"},
		{"pools", Global, "SELECT, INSERT, UPDATE, DELETE", "", "SELECT", "read by claims everywhere, changed by providers"},
		{"project_regions", Global, "SELECT, INSERT, DELETE", "", "SELECT", "regions with names of a project; written once for each project and region"},
		{"projects", Global, "SELECT, INSERT, UPDATE, DELETE", "SELECT", "SELECT", "read by requests everywhere, changed by admins"},
		{"quota_shards", RegionalByRow, "SELECT, INSERT, UPDATE, DELETE", "", "SELECT", "usage of a quota: written by every claim and release"},
		{"quotas", Global, "SELECT, INSERT, UPDATE, DELETE", "", "SELECT", "read by claims everywhere, changed by admins"},
		{"realms", RegionalByRow, "SELECT, INSERT, UPDATE, DELETE", "", "SELECT", "realms in which many consumers expired at once: in the region of the consumers"},
		{"region_blocks", Global, "SELECT, INSERT, DELETE", "", "SELECT", "loans to regions: one key for the whole cluster"},
		{"regions", Global, "SELECT", "SELECT", "SELECT", "regions: written only by ipamctl migrate"},
		{"removals", RegionalByTable, "INSERT", "SELECT, DELETE", "SELECT", "deleted projects with records left: mostly empty, and read by a background job"},
		{"sessions", Global, "SELECT, INSERT, UPDATE, DELETE", "", "", "read by requests of browsers everywhere; the last use is written in the background"},
		{"spaces", Global, "SELECT, INSERT, UPDATE, DELETE", "", "SELECT", "read by requests everywhere, changed by admins"},
		{"stocks", RegionalByRow, "SELECT, INSERT, UPDATE, DELETE", "", "SELECT", "epoch of a pool in a region: in that region"},
		{"utilization", RegionalByRow, "SELECT, INSERT, UPDATE, DELETE", "", "SELECT", "usage of pools: recorded by the servers in their home region"},
		{"webhooks", RegionalByRow, "SELECT, INSERT, UPDATE, DELETE", "", "SELECT", "webhooks and their positions: written with every delivery"},
	}
}

// IsTable reports whether Carve has a table with a name.
func IsTable(name string) bool {
	return slices.ContainsFunc(Tables(), func(t Table) bool { return t.Name == name })
}
