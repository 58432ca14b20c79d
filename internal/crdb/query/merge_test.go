package query_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/query"
)

func TestMergedStatementsFormOneStatement(t *testing.T) {
	t.Parallel()
	names := []string{"mark_is", "free_delete_one_sure", "project_region_insert"}
	text := query.Merged(names)
	require.Equal(t, `WITH part0 AS (
DELETE FROM free_blocks AS f
WHERE f.region = $4 AND
f.container_id = $5::UUID AND f.host_bits = $6::INT2 AND f.base = $7::BYTEA
RETURNING 1
),
part1 AS (
INSERT INTO project_regions (project_id, region)
SELECT p.id, $10::crdb_internal_region
FROM projects AS p
WHERE p.id = $9
ON CONFLICT (project_id, region) DO NOTHING
RETURNING 1
)
SELECT (SELECT 1 / (count(*) = 1)::INT4
FROM fences
WHERE region = $1 AND id = $2 AND mark = $3),
(SELECT 1 / (count(*) = $8::INT8)::INT4 FROM part0)`, text)
	require.Equal(t, text, query.Merged(names))
	name, known := query.Name(text)
	require.True(t, known)
	require.Equal(t, "mark_is+free_delete_one_sure+project_region_insert", name)
	require.Equal(t, text, query.MergedStatements()[name])
	require.Equal(t, "SELECT 1", query.Merged(nil))
}

func TestStatementNameIsFoundByItsText(t *testing.T) {
	t.Parallel()
	for name, text := range query.All() {
		found, known := query.Name(text)
		require.True(t, known, name)
		require.Equal(t, text, query.Get(found))
	}
	_, known := query.Name("SELECT 'something else'")
	require.False(t, known)
}

func TestStatementThatChangesRowsOfAnotherIsNotMerged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		others []string
		apart  bool
	}{
		"mark_is":              {[]string{"fence_update_one_sure"}, false}, // mark_is reads the version row of another container
		"free_delete_one_sure": {[]string{"fence_update_one_sure", "hold_delete_one_sure"}, false},
		"free_insert_one":      {[]string{"mark_is", "free_delete_one_sure"}, true},
		"hold_update_sure":     {[]string{"hold_delete_one_sure", "mark_is"}, true},
		"hold_insert":          {[]string{"hold_insert_one"}, false},
		"hold_insert_one":      {[]string{"hold_update_sure"}, true},
		"event_insert":         {nil, false},
	} {
		require.Equal(t, c.apart, query.MustNotMerge(name, c.others), name)
	}
}
