package crdb_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// betweenRegions lists the invariants that cannot be broken in a database with one region.
var betweenRegions = []string{"borrowed", "loans", "epochs", "names"}

// regionDamages contains statements that each break one thing. The pool has lent blocks to the second region, and a claim there holds one of these
// blocks.
var regionDamages = map[string]struct{ sql, want string }{
	"a free block that was lent is lost":         {"DELETE FROM free_blocks WHERE ctid = (SELECT ctid FROM free_blocks WHERE region = 'zone-b' AND container_id = @both ORDER BY host_bits DESC, base LIMIT 1)", "borrowed fences leaves"},
	"a held block that was lent is free too":     {"INSERT INTO free_blocks SELECT region, container_id, 0, base FROM holds WHERE region = 'zone-b' AND container_id = @both", "borrowed fences leaves maximal"},
	"a region has what it was not lent":          {"UPDATE free_blocks SET region = 'zone-b' WHERE ctid = (SELECT ctid FROM free_blocks WHERE region = 'local' AND container_id = @both ORDER BY host_bits DESC LIMIT 1)", "borrowed fences sums tiling"},
	"home has what it has lent":                  {"UPDATE free_blocks SET region = 'local' WHERE ctid = (SELECT ctid FROM free_blocks WHERE region = 'zone-b' AND container_id = @both ORDER BY host_bits DESC, base LIMIT 1)", "borrowed fences sums tiling"},
	"a loan that nobody remembers":               {"DELETE FROM region_blocks WHERE pool_id = @both", "borrowed sums tiling"},
	"a loan to the pool's home":                  {"UPDATE region_blocks SET region = 'local' WHERE pool_id = @both", "borrowed loans"},
	"a loan outside of the pool":                 {"UPDATE region_blocks SET base = '\\x0b000000' WHERE pool_id = @both", "borrowed loans tiling"},
	"a loan of what is lent":                     {"INSERT INTO region_blocks SELECT pool_id, set_byte(base, 3, get_byte(base, 3) + 1), 32, region, lent_at FROM region_blocks WHERE pool_id = @both", "borrowed loans sums tiling"},
	"a loan of a pool that serves one region":    {"UPDATE region_blocks SET pool_id = (SELECT id FROM pools WHERE name = 'here') WHERE pool_id = @both", "borrowed loans sums tiling"},
	"rows of another time than their record":     {"UPDATE stocks SET epoch = gen_random_uuid() WHERE region = 'zone-b'", "epochs"},
	"a record of another time than its rows":     {"UPDATE pool_regions SET epoch = gen_random_uuid() WHERE region = 'zone-b'", "epochs"},
	"rows without an epoch":                      {"DELETE FROM stocks WHERE region = 'zone-b'", "epochs"},
	"an epoch without a record":                  {"INSERT INTO stocks SELECT 'zone-b', id, gen_random_uuid() FROM pools WHERE name = 'here'", "epochs"},
	"a pool serves a region without a record":    {"UPDATE pools SET regions = '[\"local\", \"zone-b\"]' WHERE name = 'here'", "epochs fences"},
	"a record of a region that is not served":    {"UPDATE pools SET regions = '[]' WHERE id = @both", "epochs fences"},
	"two claims of a name":                       {"UPDATE holds SET name = 'one' WHERE name = 'two'", "names"},
	"two alert rules of a name":                  {"INSERT INTO alert_rules SELECT 'zone-b', project_id, name, gen_random_uuid(), spec, due_at, after_name, looked_at, epoch, labels, annotations, generation, revision, created_at, updated_at, created_by FROM alert_rules", "alerts"},
	"a pool that is recorded elsewhere":          {"INSERT INTO utilization SELECT 'zone-b', id, FALSE, now(), now(), decode('000000', 'hex') FROM pools WHERE name = 'here'", "utilization"},
	"two webhooks of a name":                     {"INSERT INTO webhooks SELECT 'zone-b', project_id, name, gen_random_uuid(), spec, progress, stopped, due_at, lease, epoch, labels, annotations, generation, revision, created_at, updated_at, created_by FROM webhooks", "webhooks"},
	"a region in which names are not looked for": {"DELETE FROM project_regions WHERE region = 'zone-b'", "names"},
	"a claim in another region than its block":   {"UPDATE holds SET region = 'local' WHERE name = 'two'", "borrowed sums tiling"},
	"a region without its fence":                 {"DELETE FROM fences WHERE region = 'zone-b' AND id = @both", "fences"},
	"a fence in a region that is not served":     {"INSERT INTO fences SELECT 'zone-b', id, mark, stock FROM fences WHERE id = (SELECT id FROM pools WHERE name = 'here')", "fences"},
	"shards of one region are lost":              {"DELETE FROM quota_shards WHERE region = 'zone-b' AND shard > 3", "quotas"},
	"a shard of one region is miscounted":        {"UPDATE quota_shards SET used_claims = used_claims + 1 WHERE region = 'zone-b' AND shard = 3", "quotas"},
}

func TestAuditReportsDamageBetweenRegions(t *testing.T) {
	t.Parallel()
	here, there := abroad(t)
	poolsOfBoth(t, here, there)
	both := rootPool("both", "10.3.0.0/24")
	both.Spec.Region, both.Spec.Regions = region, []string{region, away}
	here.createPool(t, both)
	here.createClaim(t, claimOf("one", project, "both", 32))
	two := there.createClaim(t, claimOf("two", project, "both", 32))
	require.Equal(t, away, two.Region, "its block was lent there")
	limitClaims(t, here, 100)
	withWebhook(t, here, project)
	withAlertRule(t, here, project)
	clean(t, here.dsn)
	e := &estate{house: here, conn: dbtest.Connect(t, here.dsn, nil), tables: []string{
		"pools", "fences", "free_blocks", "holds", "quotas", "quota_shards", "pool_regions", "region_blocks", "stocks", "project_regions", "webhooks", "alert_rules", "utilization",
	}}
	for _, key := range []string{"pool_regions", "region_blocks"} {
		e.exec(t, "ALTER TABLE "+key+" DROP CONSTRAINT "+key+"_pool_fkey")
	}
	e.exec(t, "CREATE SCHEMA backup")
	for _, table := range e.tables {
		e.exec(t, "CREATE TABLE backup."+table+" AS SELECT * FROM "+table)
	}
	seen := map[string]bool{}
	for name, d := range regionDamages {
		for statement := range strings.SplitSeq(strings.ReplaceAll(d.sql, "@both", "(SELECT id FROM pools WHERE name = 'both')"), ";\n") {
			require.Positive(t, e.exec(t, statement), "%s: it must damage something: %s", name, statement)
		}
		got := e.named(t)
		assert.Equal(t, d.want, strings.Join(got, " "), name)
		for _, invariant := range got {
			seen[invariant] = true
		}
		e.restore(t)
		clean(t, e.dsn)
	}
	for _, invariant := range betweenRegions {
		require.True(t, seen[invariant], fmt.Sprint(invariant, " has a damage that it finds"))
	}
	_, err := there.svc.GetClaim(admin(t), project, "two", usecase.Reading{})
	require.False(t, ipam.IsCode(err, ipam.CodeNotFound), "%v", err)
}
