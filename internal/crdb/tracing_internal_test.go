package crdb

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/query"
)

// watching is a tracer that records the names of statements. It traces a request only if follows is set.
type watching struct {
	follows    bool
	statements []string
}

func (w *watching) Follows(context.Context) bool { return w.follows }

func (w *watching) AttemptBegan(ctx context.Context, _ string, _ int, _ bool) context.Context {
	return ctx
}

func (w *watching) AttemptEnded(context.Context, string, string) {}

func (w *watching) StatementRan(_ context.Context, name string, _, _ time.Time, _ int64, _ int, _ string) {
	w.statements = append(w.statements, name)
}

// traceAll calls the tracer as pgx does, for a single statement and for a batch.
func traceAll(t statements) {
	ctx := context.Background()
	sql := query.Get("claim_get")
	within := t.TraceQueryStart(ctx, nil, pgx.TraceQueryStartData{SQL: sql})
	t.TraceQueryEnd(within, nil, pgx.TraceQueryEndData{})
	within = t.TraceBatchStart(ctx, nil, pgx.TraceBatchStartData{Batch: empty})
	t.TraceBatchQuery(within, nil, pgx.TraceBatchQueryData{SQL: "SELECT 1"})
	t.TraceBatchEnd(within, nil, pgx.TraceBatchEndData{})
}

var empty = &pgx.Batch{}

func TestUntracedStatementsAllocateNothing(t *testing.T) { //nolint:paralleltest // it counts what is allocated meanwhile
	w := &watching{}
	require.Zero(t, testing.AllocsPerRun(100, func() { traceAll(statements{w}) }))
	require.Empty(t, w.statements)
	s := &Store{tracer: w}
	attempt := func(context.Context) error { return nil }
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _, _ = s.try(context.Background(), "claim_group", 0, false, attempt) }))

	w.follows = true
	require.NotZero(t, testing.AllocsPerRun(1, func() { traceAll(statements{w}) }), "the test can tell")
	require.Equal(t, []string{"claim_get", "other"}, w.statements[:2])
}

func TestEveryStatementHasTheNameOfItsFile(t *testing.T) {
	t.Parallel()
	for name, sql := range query.All() {
		require.Equal(t, name, nameOf(sql), "two files hold the same statement")
	}
	require.Equal(t, "begin", nameOf(beginStatement))
	require.Equal(t, "commit", nameOf("commit"))
	require.Equal(t, "other", nameOf("SELECT secret"))
}
