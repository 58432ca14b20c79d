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

// plannedAnew is why a statement may plan a part of itself anew for each row.
var plannedAnew = map[string]string{
	"held_up_to":      "it reads two rows for each block; as one plan it would read all that is held in the pool",
	"consumer_crowds": "it is for some projects, once a minute, each a range of the key",
}

// No statement reads the whole of a table or of an index on CockroachDB, nor plans a part of itself anew for each row, which may read one. It does
// not explain a statement that was planned for all arguments, so that each has one of its type, and an array has two, which it does not plan as one.
func TestNoStatementReadsAWholeTableOnCockroach(t *testing.T) {
	t.Parallel()
	if dbtest.Engine() == devdb.Postgres {
		t.Skip("about CockroachDB; PostgreSQL has golden plans")
	}
	dsn := dbtest.New(t)
	c := dbtest.Connect(t, dsn, nil)
	fill(t, c)
	_, err := c.Exec(t.Context(), "SET index_recommendations_enabled = off") // 26.1 fails to make some
	require.NoError(t, err)
	statements := query.All()
	for _, name := range slices.Sorted(maps.Keys(statements)) {
		plan := explainOnCockroach(t, c, name, statements[name])
		if remarkOf(t, name, "rows") != "all of the region" {
			assert.NotContains(t, plan, "FULL SCAN", "%s:\n%s", name, plan)
		}
		if byKeys.MatchString(name) {
			assert.NotContains(t, plan, "join", "%s looks up what it names, and nothing else:\n%s", name, plan)
		}
		if plannedAnew[name] != "" {
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

// argument is some value of a type, as SQL.
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
