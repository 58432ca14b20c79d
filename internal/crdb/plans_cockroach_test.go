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

// wholeOnCockroach are the statements that CockroachDB 26.1 may plan with a whole table or index, and why.
var wholeOnCockroach = map[string]string{
	"pool_get_granted": "a key that is the value of a subquery is no constraint on an index there: all pools are read by name",
	"names_there":      "likewise: projects are joined with pools, and with spaces, as a whole before the names are looked for",
	"shard_delete_all": "likewise: the shards of all quotas are read",
	"space_delete":     "no index of pools begins with their space, which the foreign key is checked by",
	"cooldown_next":    "it reads what cools down anywhere once, in place of a probe for each length",
	"scoped_pool_list": "it reads all projects when they are few",
}

// notExplained are statements whose text it refuses when their arguments are constants, which no request sends.
var notExplained = map[string]string{"pool_list_granted": "unsupported comparison: string to bytes"}

// No other statement reads the whole of a table or of an index on CockroachDB. It does not explain a statement that was planned for all
// arguments, so that each has one of its type.
func TestNoStatementReadsAWholeTableOnCockroach(t *testing.T) {
	t.Parallel()
	if dbtest.Engine() == devdb.Postgres {
		t.Skip("about CockroachDB; PostgreSQL has golden plans")
	}
	dsn := dbtest.New(t)
	c := dbtest.Connect(t, dsn, nil)
	fill(t, c)
	statements := query.All()
	for _, name := range slices.Sorted(maps.Keys(statements)) {
		if notExplained[name] != "" || wholeOnCockroach[name] != "" {
			continue
		}
		plan := explainOnCockroach(t, c, name, statements[name])
		assert.NotContains(t, plan, "FULL SCAN", name)
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
	if several {
		return "ARRAY[" + value + "::" + name + "]"
	}
	return "(" + value + "::" + name + ")"
}
