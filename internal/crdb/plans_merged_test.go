package crdb_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/devdb"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// PostgreSQL and CockroachDB plan each part of a merged statement like the statement alone, which has its own test. Each part reads only its own
// index.
func TestMergedStatementsReadNoWholeTable(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	fill(t, dbtest.Connect(t, dsn, nil))
	settings, whole, planned := crdb.SessionSettings(), "Seq Scan", explain
	cockroach := dbtest.Engine() != devdb.Postgres
	if cockroach {
		settings, whole, planned = nil, "FULL SCAN", explainOnCockroach
	}
	c := dbtest.Connect(t, dsn, settings)
	if cockroach {
		_, err := c.Exec(t.Context(), "SET index_recommendations_enabled = off") // CockroachDB 26.1 fails on some recommendations
		require.NoError(t, err)
	}
	for i, names := range [][]string{
		{"mark_is", "answer_insert_one", "fence_update_one_sure", "free_delete_one_sure", "shard_count_sure"},
		{"mark_is", "mark_is", "fence_update_sure", "hold_delete_sure", "free_delete_sure"},
		{"mark_is", "fence_update_one_sure", "hold_delete_one_sure", "free_delete_alike_sure"},
		{"free_insert_alike", "hold_insert_alike", "event_insert", "history_insert_alike"},
	} {
		plan := planned(t, c, fmt.Sprintf("merged%d", i), query.Merged(names))
		assert.NotContains(t, plan, whole, "%v:\n%s", names, plan)
	}
}
