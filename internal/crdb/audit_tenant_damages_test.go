package crdb_test

import (
	"fmt"
)

// tenantDamages returns statements that damage the data of a tenant, except its blocks.
func tenantDamages(f family) map[string]struct{ sql, want string } {
	n := f.number
	tenant := fmt.Sprintf("(SELECT id FROM projects WHERE name = 'tenant%d')", n)
	pool := fmt.Sprintf("(SELECT id FROM pools WHERE name = 'shop-%d')", n)
	of := func(table, where string) string { return table + " WHERE project_id = " + tenant + " AND " + where }
	shard := func(quota string, number int) string {
		return fmt.Sprintf(" WHERE quota_id = (SELECT id FROM quotas WHERE name = '%s' AND project_id = %s) AND shard = %d", quota, tenant, number)
	}
	shards := func(quota, set string) string { return "UPDATE quota_shards SET " + set + shard(quota, 3) }
	quota := func(name, set string) string {
		return "UPDATE quotas SET " + set + " WHERE name = '" + name + "' AND project_id = " + tenant
	}
	block := func(last int) string { return " WHERE project_id = " + tenant + " AND base = " + f.at(last) }
	first := "(SELECT min(until) FROM history" + block(16) + ")"
	const nobody = "'00000000-0000-4000-8000-000000000001'"
	// claim returns an update after which the claim is still complete, but has wrong figures.
	claim := func(set string) string {
		return "UPDATE holds SET " + set + " WHERE holder_project_id = " + tenant + " AND name = 'other'"
	}
	return map[string]struct{ sql, want string }{
		"a shard is lost":                                 {"DELETE FROM quota_shards" + shard("none", 7), "quotas"},
		"a shard too many":                                {"INSERT INTO quota_shards SELECT region, quota_id, 16, 0, 0, 0, 0, 0, 0 FROM quota_shards" + shard("none", 7), "quotas"},
		"a shard has another number":                      {"UPDATE quota_shards SET shard = 16" + shard("none", 7), "quotas"},
		"a quota without shards":                          {"DELETE FROM quota_shards WHERE quota_id = (SELECT id FROM quotas WHERE name = 'none' AND project_id = " + tenant + ")", "quotas"},
		"shards without their quota":                      {"DELETE FROM " + of("quotas", "name = 'none'"), "quotas"},
		"a claim is not counted":                          {shards("all", "used_claims = used_claims - 1, spare_claims = spare_claims + 1"), "quotas"},
		"an address is counted twice":                     {shards("all", "used_addresses = used_addresses + 1, spare_addresses = spare_addresses - 1"), "quotas"},
		"a pool is not counted":                           {shards("all", "used_pools = used_pools - 1, spare_pools = spare_pools + 1"), "quotas"},
		"a measure that is not bounded is miscounted":     {shards("some", "used_addresses = used_addresses + 1"), "quotas"},
		"addresses to spare are lost":                     {shards("all", "spare_addresses = spare_addresses - 1"), "quotas"},
		"claims to spare out of nothing":                  {shards("all", "spare_claims = spare_claims + 1"), "quotas"},
		"pools to spare out of nothing":                   {shards("all", "spare_pools = spare_pools + 1"), "quotas"},
		"spare of what is not bounded":                    {shards("some", "spare_pools = 1"), "quotas"},
		"one shard owes what another has":                 {shards("all", "spare_claims = spare_claims - 1000") + ";\nUPDATE quota_shards SET spare_claims = spare_claims + 1000" + shard("all", 4), "quotas"},
		"a quota that is overdrawn and does not say so":   {quota("some", "overdrawn = false"), "quotas"},
		"a limit that is not the one that was spread":     {quota("all", "limit_addresses = 1001"), "quotas"},
		"a limit that nobody spread":                      {quota("none", "limit_claims = 1"), "quotas"},
		"a quota that counts another pool":                {quota("none", fmt.Sprintf("pool_project = 'tenant%d', pool_name = 'shop-%d'", n, n)), "quotas"},
		"a quota that counts another project's pool":      {quota("some", "pool_project = 'other'"), "quotas"},
		"a quota that counts the other family":            {quota("some", fmt.Sprintf("af = %d", 10-n)), "quotas"},
		"a quota of another project":                      {quota("all", "project_id = (SELECT id FROM projects WHERE name = 'platform')"), "quotas"},
		"a retained block that has another last claimant": {"UPDATE holds SET holder_project_id = " + nobody + block(32), "quotas"},
		"a claim of another project":                      {claim("holder_project_id = (SELECT id FROM projects WHERE name = 'platform')"), "quotas"},

		"a grant of a pool that is gone":         {"UPDATE grants SET subject_id = " + nobody + " WHERE subject_id = " + pool, "grants"},
		"a grant of a space that is gone":        {"UPDATE grants SET subject_id = " + nobody + " WHERE kind = 'space' AND subject_id = (SELECT id FROM spaces WHERE name = 'default' AND project_id = " + tenant + ")", "grants"},
		"a grant of a pool that says it is none": {"UPDATE grants SET kind = 'space' WHERE subject_id = " + pool, "grants"},

		"two holds at the same time":                    {"UPDATE history SET since = since - INTERVAL '2 days'" + block(16) + " AND until = " + first + ";\nUPDATE history SET since = since - INTERVAL '1 day'" + block(16) + " AND until > " + first, "history"},
		"a hold that lasted into the next":              {"UPDATE history SET until = until + INTERVAL '1 day'" + block(16) + " AND until = " + first, "history"},
		"a hold that ended before it began":             {"UPDATE history SET since = until + INTERVAL '1 second'" + block(16) + " AND until > " + first, "history"},
		"a claim that began before the last one ended":  {"UPDATE holds SET since = since - INTERVAL '1 day'" + block(16), "history"},
		"a retained block since before its claim ended": {"UPDATE holds SET since = since - INTERVAL '1 day'" + block(32), "history"},

		"a claim that miscounts its consumers":  {"UPDATE holds SET doc = replace(doc, '\"q\":1', '\"q\":2') WHERE holder_project_id = " + tenant + " AND name = 'again'", "consumers"},
		"a consumer of a claim that is gone":    {"UPDATE attachments SET claim_name = 'nothing' WHERE project_id = " + tenant, "consumers"},
		"an ended consumer that stays attached": {"UPDATE consumers SET ended_at = renewed_at, reason = 'Ended' WHERE uid = 'vm' AND project_id = " + tenant, "consumers"},
		"a consumer of no project":              {"UPDATE consumers SET project_id = " + nobody + " WHERE uid = 'gone' AND project_id = " + tenant, "consumers"},
		"a realm of no project":                 {"INSERT INTO realms (region, project_id, name) SELECT region, " + nobody + ", realm FROM consumers WHERE uid = 'gone' AND project_id = " + tenant, "consumers"},

		"an alert rule of no project":             {"UPDATE alert_rules SET project_id = " + nobody + " WHERE project_id = " + tenant + ";\nDELETE FROM alerts WHERE project_id = " + tenant, "alerts"},
		"an alert of a rule that is gone":         {"DELETE FROM alert_rules WHERE project_id = " + tenant, "alerts"},
		"an alert of an earlier rule of the name": {"UPDATE alerts SET rule_id = " + nobody + " WHERE project_id = " + tenant, "alerts"},
		"an alert about something else":           {"UPDATE alerts SET about = 'Quotas' WHERE project_id = " + tenant, "alerts"},
		"what was recorded before its day":        {"INSERT INTO utilization SELECT region, id, FALSE, now(), now() - INTERVAL '1 hour', decode('000000', 'hex') FROM pools WHERE id = " + pool, "utilization"},
		"what was recorded after its day":         {"INSERT INTO utilization SELECT region, id, FALSE, now() - INTERVAL '25 hours', now(), decode('000000', 'hex') FROM pools WHERE id = " + pool, "utilization"},
		"what was recorded after its month":       {"INSERT INTO utilization SELECT region, id, TRUE, now() - INTERVAL '32 days', now(), decode('000000', 'hex') FROM pools WHERE id = " + pool, "utilization"},
		"a day of which nothing was recorded":     {"INSERT INTO utilization SELECT region, id, FALSE, now(), now(), '' FROM pools WHERE id = " + pool, "utilization"},
		"an alert of more than all":               {"UPDATE alerts SET began = 10001 WHERE project_id = " + tenant, "alerts"},
		"a webhook of no project":                 {"UPDATE webhooks SET project_id = " + nobody + " WHERE project_id = " + tenant + ";\nDELETE FROM deliveries WHERE project_id = " + tenant, "webhooks"},
		"a webhook that nobody looks at again":    {"UPDATE webhooks SET lease = id, due_at = NULL WHERE project_id = " + tenant, "webhooks"},
		"a delivery of a webhook that is gone":    {"DELETE FROM webhooks WHERE project_id = " + tenant, "webhooks"},
		"two deliveries to a webhook at a time":   {"INSERT INTO deliveries SELECT region, project_id, webhook_id, gen_random_uuid(), cursor, message, attempts, began_at, error, dead_at, retry FROM deliveries WHERE project_id = " + tenant, "webhooks"},

		"a member of no project":               {"UPDATE members SET project_id = " + nobody + " WHERE project_id = " + tenant, "members"},
		"a key of no project":                  {"UPDATE api_keys SET project_id = " + nobody + " WHERE project_id = " + tenant, "members"},
		"a quota of no project":                {quota("none", "project_id = "+nobody), "members"},
		"the trail of no project":              {"UPDATE audit_events SET project_id = " + nobody + " WHERE project_id = " + tenant, "members"},
		"the history of no project":            {"UPDATE history SET project_id = " + nobody + " WHERE project_id = " + tenant, "members"},
		"a deleted project that nobody purges": {"DELETE FROM removals", "members"},
		"a project that is purged alive":       {"INSERT INTO removals (project_id) SELECT id FROM projects WHERE id = " + tenant, "members"},
	}
}
