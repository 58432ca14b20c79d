package schema_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// After all migrations, the database has exactly the listed tables. So the author of a new table must decide about its locality and its grants.
func TestEveryTableHasALocalityAndGrants(t *testing.T) {
	t.Parallel()
	c := dbtest.Connect(t, dbtest.New(t), nil)
	var listed []string
	for _, l := range schema.Tables() {
		listed = append(listed, l.Name)
		require.NotEmpty(t, l.Reason, l.Name)
	}
	require.True(t, slices.IsSorted(listed))
	require.Equal(t, dbtest.Tables(t, c), listed, "a new table needs a line in tables.go")
}

// A table is regional by row if its primary key begins with region, and otherwise not. With such a key, the key alone makes a row unique, and the row
// is stored in its region.
func TestTablesAreRegionalByRowIfTheirKeyBeginsWithRegion(t *testing.T) {
	t.Parallel()
	c := dbtest.Connect(t, dbtest.New(t), nil)
	rows, err := c.Query(t.Context(), `SELECT k.table_name FROM information_schema.key_column_usage AS k
JOIN information_schema.table_constraints AS c ON c.constraint_name = k.constraint_name AND c.table_name = k.table_name AND c.table_schema = k.table_schema
WHERE c.table_schema = 'public' AND c.constraint_type = 'PRIMARY KEY' AND k.ordinal_position = 1 AND k.column_name = 'region' ORDER BY 1`)
	require.NoError(t, err)
	want, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.NotEmpty(t, want)
	var got []string
	for _, l := range schema.Tables() {
		switch l.Locality {
		case schema.RegionalByRow:
			got = append(got, l.Name)
		case schema.Global, schema.RegionalByTable:
		default:
			t.Errorf("%s: %q is no locality of ours", l.Name, l.Locality)
		}
	}
	require.Equal(t, want, got)

	rows, err = c.Query(t.Context(), `SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = ANY ($1::TEXT[])
AND column_name = 'region' AND udt_name = 'crdb_internal_region' AND is_nullable = 'NO' ORDER BY 1`, got)
	require.NoError(t, err)
	fit, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Equal(t, got, fit, "the column is of the type that CockroachDB asks for, and never null")
}

// The page for operators lists the locality of every table.
func TestLocalitiesAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "cockroachdb.md"))
	require.NoError(t, err)
	tables := map[schema.Locality][]string{}
	for _, l := range schema.Tables() {
		tables[l.Locality] = append(tables[l.Locality], "`"+l.Name+"`")
	}
	for locality, names := range tables {
		require.Contains(t, string(text), "\n* "+string(locality)+": "+strings.Join(names, ", ")+"\n")
	}
}
