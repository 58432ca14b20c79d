package crdb_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// needStatistics lists the statements that PostgreSQL plans badly in a new or restored database, because it has no statistics yet. Their work then
// grows with the number of held blocks. Their predicate locks then cover all rows that they read. Autovacuum ends this state after about a minute.
// Never add a statement to this list.
var needStatistics = map[string]string{
	"hold_delete":     "reads every hold of the region",
	"free_delete":     "reads every free block of the containers",
	"answer_expire":   "reads every answer",
	"consumer_forget": "reads every consumer of the region",
	"held_count":      "reads every hold of the region",
	"loan_delete":     "reads every loan of the pool",
}

func TestPlansUseTheIndexBeforeAnyAnalyze(t *testing.T) {
	t.Parallel()
	dbtest.OnPostgres(t)
	c := dbtest.Connect(t, dbtest.New(t), crdb.SessionSettings())
	statements := statementsHere()
	for _, name := range slices.Sorted(maps.Keys(statements)) {
		plan := explain(t, c, name, statements[name])
		wrong := strings.Contains(plan, "Join Filter: ") && !strings.Contains(plan, "(id = ANY ($2))") || // few ids are given
			strings.Contains(plan, "Index Cond: (region = $1)\n") && remarkOf(t, name, "rows") != "all alerts of the region" || strings.Contains(plan, "Seq Scan")
		remark := remarkOf(t, name, "index")
		for line := range strings.Lines(plan) {
			if m := indexScan.FindStringSubmatch(line); m != nil && !strings.Contains(remark, m[2]) {
				wrong = true
			}
		}
		_, known := needStatistics[strings.TrimSuffix(strings.TrimSuffix(name, "_sure"), "_alike")]
		switch {
		case wrong && !known:
			assert.Fail(t, "it needs statistics", "%s:\n%s", name, plan)
		case known && !wrong:
			assert.Fail(t, "it needs statistics no more: take it off the list", "%s:\n%s", name, plan)
		}
	}
	for name := range needStatistics {
		assert.Contains(t, statements, name)
	}
}
