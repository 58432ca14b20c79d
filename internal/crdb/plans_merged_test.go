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

// What claims and releases send in one round trip is planned as its parts are, of which each has a golden plan: nothing is read but by the index that is for it.
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
		_, err := c.Exec(t.Context(), "SET index_recommendations_enabled = off") // 26.1 fails to make some
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
