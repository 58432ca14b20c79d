package crdb_test

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/devdb"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// plannedAnew lists the statements in which the database plans a part again for each row. Each has a note about the rows that it would read if it had
// a single plan. In a single plan, CockroachDB turns the LIMIT of that part into a window function. The window limits the rows that are returned, but
// not the rows that are read.
var plannedAnew = map[string]string{
	"consumer_crowds":   "all consumers of each project",
	"cooldown_next":     "all of each length that is cooling down",
	"drained_pool_list": "all that is held in each pool",
	"event_oldest":      "all events of each project below the id",
	"held_up_to":        "all that is held in the pool",
	"history_oldest":    "all holds of each project before the time",
	"scoped_pool_list":  "all that is held in each pool",
}

// numbered lists the statements whose window function limits only the returned rows. Each has the reason why reading all other rows is acceptable.
var numbered = map[string]string{
	"class_find_default_pools": "the pools behind a class are bounded",
	"class_find_pools":         "likewise",
	"class_pools":              "likewise",
	"free_list":                "few blocks of each size are free where it is used",
	"free_scan":                "likewise",
	"free_within":              "the limit is of what there can be",
	"history_at":               "all holds of each block: read one by one they would take a trip each from another region",
	"history_list":             "likewise",
	"held_elsewhere":           "claims of the very block: as many as spaces repeat it",
	"pool_list_covering":       "likewise, of a project",
	"search_pools_around":      "likewise, of some projects",
	"search_pools_around_all":  "likewise",
	"utilization_list":         "a pool has fewer rows than the limit",
}

// On CockroachDB, no statement reads a whole table or index. Only the statements in plannedAnew plan a part again for each row, because such a part
// may read a whole table.
//
// CockroachDB cannot explain a statement with placeholders. So each placeholder gets a value of its type. An array gets two elements, because
// CockroachDB plans an array of one element differently.
func TestNoStatementReadsAWholeTableOnCockroach(t *testing.T) {
	t.Parallel()
	if dbtest.Engine() == devdb.Postgres {
		t.Skip("about CockroachDB; PostgreSQL has golden plans")
	}
	dsn := dbtest.New(t)
	c := dbtest.Connect(t, dsn, nil)
	fill(t, c)
	_, err := c.Exec(t.Context(), "SET index_recommendations_enabled = off") // CockroachDB 26.1 fails on some recommendations
	require.NoError(t, err)
	statements := query.All()
	for _, name := range slices.Sorted(maps.Keys(statements)) {
		plan := explainOnCockroach(t, c, name, statements[name])
		if remarkOf(t, name, "rows") != "all alerts of the region" {
			assert.NotContains(t, plan, "FULL SCAN", "%s:\n%s", name, plan)
		}
		if byKeys.MatchString(name) {
			assert.NotContains(t, plan, "join", "%s looks up what it names, and nothing else:\n%s", name, plan)
		}
		if numbered[name] == "" {
			assert.NotContains(t, plan, "row_num", "%s reads more than its limit:\n%s", name, plan)
		}
		if plannedAnew[name] != "" {
			assert.Contains(t, plan, "apply join", "%s would read %s:\n%s", name, plannedAnew[name], plan)
			continue
		}
		assert.NotContains(t, plan, "apply join", "%s:\n%s", name, plan)
	}
}

var parameter = regexp.MustCompile(`\$\d+`)

func explainOnCockroach(t *testing.T, c *pgx.Conn, name, sql string) string {
	t.Helper()
	d, err := c.Prepare(t.Context(), name, sql)
	require.NoError(t, err, name)
	sql = parameter.ReplaceAllStringFunc(sql, func(p string) string {
		n, err := strconv.Atoi(p[1:])
		require.NoError(t, err)
		return argument(c, d.ParamOIDs[n-1])
	})
	rows, err := c.Query(t.Context(), "EXPLAIN "+sql, pgx.QueryExecModeSimpleProtocol)
	require.NoError(t, err, name)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err, name)
	return strings.Join(lines, "\n") + "\n"
}

// argument returns a value of a type, as SQL.
func argument(c *pgx.Conn, oid uint32) string {
	known, ok := c.TypeMap().TypeForOID(oid)
	if !ok {
		return "'" + region + "'::crdb_internal_region"
	}
	name, several := strings.CutPrefix(known.Name, "_")
	value, ok := map[string]string{
		"uuid": "'11111111-2222-3333-4444-555555555555'", "bytea": `'\x0a000000'`, "timestamptz": "'2026-01-01'", "bool": "true", "jsonb": `'{}'`,
		"text": "'name'", "varchar": "'name'",
	}[name]
	if !ok {
		value = "7"
	}
	value += "::" + name
	if several {
		return "ARRAY[" + value + ", " + value + "]"
	}
	return "(" + value + ")"
}
