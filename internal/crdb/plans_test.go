package crdb_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

var update = flag.Bool("update", false, "write testdata/plans anew")

// plansOf is the major version of PostgreSQL for which the golden plans are. Another version may print a plan differently. The general checks apply
// to all versions.
const plansOf = "15"

var byKeys = regexp.MustCompile(`_keys\d+(_sure)?$`)

// statementsHere returns the statements that servers send to PostgreSQL. These are all statements except those with a parameter for each key.
func statementsHere() map[string]string {
	all := query.All()
	maps.DeleteFunc(all, func(name, _ string) bool { return byKeys.MatchString(name) })
	return all
}

// The test plans every statement with the session settings of the service. The tables are so large that a bad plan is expensive. The plan must equal
// the reviewed plan in testdata.
func TestEveryStatementHasItsGoldenPlan(t *testing.T) {
	t.Parallel()
	dbtest.OnPostgres(t)
	dsn := dbtest.New(t)
	fill(t, dbtest.Connect(t, dsn, nil))
	c := dbtest.Connect(t, dsn, crdb.SessionSettings())
	var version string
	require.NoError(t, c.QueryRow(t.Context(), "SHOW server_version").Scan(&version))
	golden := strings.HasPrefix(version, plansOf+".")
	statements := statementsHere()
	require.Contains(t, statements, "free_tightest")
	for _, name := range slices.Sorted(maps.Keys(statements)) {
		plan := explain(t, c, name, statements[name])
		path := filepath.Join("testdata", "plans", name+".txt")
		if *update && golden {
			require.NoError(t, os.WriteFile(path, []byte(plan), 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err, "go test ./internal/crdb -run GoldenPlan -update, and look at what it says")
		if golden {
			assert.Equal(t, string(want), plan, name)
		}
		holds(t, name, plan)
		if name == "free_tightest" {
			requireFirstOfTheKey(t, plan)
		}
	}
	files, err := filepath.Glob(filepath.Join("testdata", "plans", "*.txt"))
	require.NoError(t, err)
	require.Len(t, files, len(statements), "no plan of a statement that is gone")
}

// explain returns the generic plan of a prepared statement.
func explain(t *testing.T, c *pgx.Conn, name, sql string) string {
	t.Helper()
	_, err := c.Exec(t.Context(), "PREPARE "+name+" AS "+sql)
	require.NoError(t, err, name)
	var n int
	require.NoError(t, c.QueryRow(t.Context(), "SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = $1", name).Scan(&n))
	arguments := ""
	if n > 0 {
		arguments = "(" + strings.Join(slices.Repeat([]string{"NULL"}, n), ", ") + ")"
	}
	rows, err := c.Query(t.Context(), "EXPLAIN (COSTS OFF) EXECUTE "+name+arguments, pgx.QueryExecModeSimpleProtocol)
	require.NoError(t, err, name)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err, name)
	return strings.Join(lines, "\n") + "\n"
}

var (
	seqScan   = regexp.MustCompile(`Seq Scan on (\w+)`)
	indexScan = regexp.MustCompile(`^(\s*(?:->\s+)?)(?:Bitmap |)Index (?:Only )?Scan (?:Backward )?(?:using|on) (\w+)`)
)

// sorts lists the statements that may sort, with the rows that they sort.
var sorts = map[string]string{
	"free_list":           "a page of each size",
	"pool_list_by_labels": "the pools that carry the labels",
	"pool_list_granted":   "what is granted to the consumer",
	"project_list_named":  "the projects that were named",
	"history_list":        "a page of each block",

	"pool_region_list":  "the regions of the pools that were named",
	"drained_pool_list": "the drained pools that are empty",

	"session_trim":           "the sessions of a holder",
	"delivery_next":          "what is to be sent to a webhook, one or two",
	"claim_list_of_consumer": "a page",

	"class_find":               "two classes, to take the project's own first",
	"class_find_default":       "likewise",
	"class_find_pools":         "the pools behind the class",
	"class_find_default_pools": "likewise",
	"class_list":               "the classes of two projects",
	"class_list_named":         "the classes that were named",
	"class_pools":              "the pools behind the class",
	"usage_claims":             "the project's claims, to count them by length",
	"allocation_list_retained": "what the project has retained",
	"usage_retained":           "what the project has retained, likewise",
	"held_up_to":               "two blocks for each block and region",
	"search_pools_around":      "some of each block",
	"search_pools_around_all":  "likewise",
}

// holds checks the rules for all plans, in any version of PostgreSQL.
func holds(t *testing.T, name, plan string) {
	t.Helper()
	assert.Empty(t, seqScan.FindAllString(plan, -1), "%s reads a whole table:\n%s", name, plan)
	if _, may := sorts[name]; !may {
		assert.NotContains(t, plan, "Sort", "%s sorts:\n%s", name, plan)
	}
	assert.NotContains(t, plan, "Hash Join", name)
	assert.NotContains(t, plan, "Merge Join", name)
	lines := strings.Split(plan, "\n")
	remark := remarkOf(t, name, "index")
	for i, line := range lines {
		if m := indexScan.FindStringSubmatch(line); m != nil {
			assert.Contains(t, lines[i+1], "Index Cond: ", "%s walks a whole index:\n%s", name, plan)
			assert.Contains(t, remark, m[2], "%s: its remark names other indexes:\n%s", name, plan)
		}
	}
}

// remarkOf returns a header comment from the file of a statement.
func remarkOf(t *testing.T, name, about string) string {
	t.Helper()
	remark := query.Remark(name, about)
	assert.NotEmpty(t, remark, "%s has no remark about its %s", name, about)
	return remark
}

// requireFirstOfTheKey checks the plan of the search for the smallest free block that is large enough. Every claim makes this search. The plan must
// read the first rows of the primary key, in the order of the key. Every other layout of the table that we tried was slow.
func requireFirstOfTheKey(t *testing.T, plan string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(plan), "\n")
	require.Len(t, lines, 3, "limit, scan, condition:\n%s", plan)
	require.Equal(t, "Limit", lines[0])
	require.Equal(t, "  ->  Index Only Scan using free_blocks_pkey on free_blocks", lines[1])
	require.Contains(t, lines[2], "Index Cond: ")
}

// fill loads so many rows into the tables that a scan of any table costs more than any index.
func fill(t *testing.T, c *pgx.Conn) {
	t.Helper()
	const id = "md5(%s)::UUID"
	common := "'{}'::JSONB, '{}'::JSONB, 1, gen_random_uuid(), now(), now(), 'filler'"
	of := func(what string) string { return fmt.Sprintf(id, what) }
	for _, table := range dbtest.Tables(t, c) { // otherwise autovacuum runs seconds later, and its statistics change some plans
		_, err := c.Exec(t.Context(), "ALTER TABLE "+pgx.Identifier{table}.Sanitize()+" SET (autovacuum_enabled = off)")
		require.NoError(t, err)
	}
	for _, sql := range []string{
		"INSERT INTO projects SELECT " + of("'project' || i") + ", 'project-' || i, '', '', NULL, " + common + " FROM generate_series(1, 200) AS i",
		"INSERT INTO spaces SELECT " + of("'space' || i") + ", " + of("'project' || (i % 200 + 1)") + ", 'space-' || i, gen_random_uuid(), gen_random_uuid(), 'local', '', " + common + " FROM generate_series(1, 1000) AS i",
		"INSERT INTO pools SELECT " + of("'pool' || i") + ", " + of("'project' || (i % 200 + 1)") + ", 'pool-' || i, 'local', '[]'::JSONB, " + of("'space' || (i % 1000 + 1)") +
			", 'p', 's', " + of("'container' || (i % 50)") + ", " + of("'project' || (i % 200 + 1)") + ", '', '', 4, decode(lpad(to_hex(i), 8, '0'), 'hex'), 24, true, 'consumer', 'BestFit', NULL, NULL, NULL, '[]'::JSONB, '[]'::JSONB, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '', " +
			"jsonb_build_object('site', 'site-' || (i % 100)), '{}'::JSONB, 1, gen_random_uuid(), now(), now(), 'filler' FROM generate_series(1, 3000) AS i",
		"INSERT INTO classes SELECT " + of("'class' || i") + ", " + of("'project' || (i % 200 + 1)") + ", 'class-' || i, 4, 'consumer', i <= 200, '{}'::JSONB, " + common + " FROM generate_series(1, 3000) AS i",
		"INSERT INTO pool_classes SELECT " + of("'class' || (i % 300 + 1)") + ", " + of("'project' || (i % 200 + 1)") + ", 'pool-' || i, " + of("'pool' || i") + " FROM generate_series(1, 3000) AS i",
		"UPDATE pools SET scope = '{}'::JSONB, scope_key = encode(base, 'hex'), scope_class_id = " + of("'class' || (get_byte(base, 3) + 1)") +
			", scope_project_id = " + of("'project' || (get_byte(base, 3) % 200 + 1)") + " WHERE get_byte(base, 3) % 4 = 3",
		"INSERT INTO free_blocks SELECT 'local', " + of("'pool' || (i % 30)") + ", i % 9, decode(lpad(to_hex(i), 8, '0'), 'hex') FROM generate_series(1, 20000) AS i",
		"INSERT INTO fences SELECT 'local', id, gen_random_uuid(), decode('010120ff01', 'hex') FROM pools",
		"INSERT INTO holds SELECT 'local', " + of("'project' || (i % 20)") + ", " + of("'pool' || (i % 60)") + ", decode(lpad(to_hex(i), 8, '0'), 'hex'), 32, gen_random_uuid(), 'Claim', 'Bound', " +
			of("'project' || (i % 20)") + ", 'claim-' || i, gen_random_uuid(), gen_random_uuid(), NULL, now(), NULL, '{\"p\":\"p/n\",\"b\":\"filler\"}' FROM generate_series(1, 20000) AS i",
		"UPDATE holds SET class_id = " + of("'class' || (get_byte(base, 3) + 1)") + " WHERE get_byte(base, 3) < 200",
		"UPDATE holds SET phase = 'Retained', name = NULL, claim_id = NULL WHERE get_byte(base, 3) = 7",
		"UPDATE holds SET phase = 'CoolingDown', name = NULL, claim_id = NULL, cool_until = now() + get_byte(base, 2) * INTERVAL '1 second' WHERE get_byte(base, 3) >= 192",
		"INSERT INTO idempotency_keys SELECT 'local', " + of("'project' || (i % 20)") + ", " + of("'key-' || i") + ", gen_random_uuid(), now() + i * INTERVAL '1 second', '' FROM generate_series(1, 20000) AS i",
		"INSERT INTO members SELECT gen_random_uuid(), " + of("'project' || (i % 200 + 1)") + ", 'subject-' || (i % 1500), 'viewer', 1, gen_random_uuid(), now(), now(), 'filler' FROM generate_series(1, 3000) AS i",
		"INSERT INTO api_keys SELECT gen_random_uuid(), " + of("'project' || (i % 200 + 1)") + ", 'key-' || i, '', 'viewer', '', NULL, NULL, " + common + " FROM generate_series(1, 3000) AS i",
		"INSERT INTO sessions SELECT decode(md5(i::TEXT) || md5(i::TEXT), 'hex'), 'holder-' || (i % 500), NULL, '', gen_random_uuid(), '{}'::JSONB, now() + i * INTERVAL '1 second', now(), now() + i * INTERVAL '1 second' FROM generate_series(1, 5000) AS i",
		"INSERT INTO grants SELECT gen_random_uuid(), 'pool', " + of("'pool' || (i % 1500)") + ", 'project-' || (i % 200), 1, gen_random_uuid(), now(), now(), 'filler' FROM generate_series(1, 3000) AS i",
		"INSERT INTO quotas SELECT " + of("'quota' || i") + ", " + of("'project' || (i % 200 + 1)") + ", 'quota-' || i, 'platform', '', '', '', '', 0, NULL, 5, NULL, false, '', 1, gen_random_uuid(), now(), now(), 'filler' FROM generate_series(1, 1000) AS i",
		"INSERT INTO quota_shards SELECT 'local', " + of("'quota' || i") + ", n, 0, 0, 0, 0, 0, 0 FROM generate_series(1, 1000) AS i, generate_series(0, 15) AS n",
		"INSERT INTO audit_events SELECT 'local', " + of("'project' || (i % 200 + 1)") + ", gen_random_uuid(), 1, '' FROM generate_series(1, 20000) AS i",
		"INSERT INTO history SELECT 'local', " + of("'project' || (i % 20)") + ", decode(lpad(to_hex(i % 2000), 8, '0'), 'hex'), 32, now() + i * INTERVAL '1 second', gen_random_uuid(), now(), 'p', 'n', 'Claim', 'Bound', gen_random_uuid(), 'p', 'h' FROM generate_series(1, 20000) AS i",
		"INSERT INTO project_regions SELECT " + of("'project' || i") + ", 'local' FROM generate_series(1, 200) AS i",
		"INSERT INTO pool_regions SELECT " + of("'pool' || i") + ", 'local', gen_random_uuid(), 8, now(), 0 FROM generate_series(1, 3000) AS i",
		"INSERT INTO stocks SELECT 'local', pool_id, epoch FROM pool_regions",
		"INSERT INTO region_blocks SELECT " + of("'pool' || (i % 30 + 1)") + ", decode(lpad(to_hex(i), 8, '0'), 'hex'), 32, 'local', now() FROM generate_series(1, 20000) AS i",
		"INSERT INTO webhooks SELECT 'local', " + of("'project' || (i % 200)") + ", 'webhook-' || i, " + of("'webhook' || i") + ", '{}'::JSONB, '{}'::JSONB, '', " +
			"now() + i * INTERVAL '1 second', CASE WHEN i % 10 > 0 THEN " + of("'server' || (i % 10)") + " END, gen_random_uuid(), " + common + " FROM generate_series(1, 3000) AS i",
		"INSERT INTO deliveries SELECT 'local', " + of("'project' || (i % 200)") + ", " + of("'webhook' || (i % 300)") + ", gen_random_uuid(), '', '', 1, now(), NULL, " +
			"now() + i * INTERVAL '1 second', false FROM generate_series(1, 20000) AS i",
		"INSERT INTO alert_rules SELECT 'local', " + of("'project' || (i % 200)") + ", 'rule-' || i, " + of("'rule' || i") + ", '{}'::JSONB, " +
			"now() + i * INTERVAL '1 second', '', NULL, gen_random_uuid(), " + common + " FROM generate_series(1, 3000) AS i",
		"INSERT INTO alerts SELECT 'local', " + of("'project' || (i % 200)") + ", 'rule-' || (i % 3000), 'pool-' || i, " + of("'rule' || (i % 3000)") +
			", gen_random_uuid(), 'Pools', now(), 9000 FROM generate_series(1, 20000) AS i",
		"INSERT INTO utilization SELECT 'local', " + of("'pool' || i") + ", d > 14, date_trunc('day', now()) - d * INTERVAL '1 day', now(), '' FROM generate_series(1, 3000) AS i, generate_series(0, 20) AS d",
		"INSERT INTO removals SELECT " + of("'gone' || i") + " FROM generate_series(1, 1000) AS i",
	} {
		_, err := c.Exec(context.Background(), sql)
		require.NoError(t, err, sql)
	}
	for _, table := range dbtest.Tables(t, c) {
		_, err := c.Exec(context.Background(), "ANALYZE "+pgx.Identifier{table}.Sanitize())
		require.NoError(t, err, table)
	}
}
