package crdb

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/crdb/outcome"
	"github.com/carve-ipam/carve/internal/crdb/query"
)

// Tracer records a traced request's attempts and statements. It must not block, and must be safe for concurrent use.
type Tracer interface {
	// Follows reports whether ctx belongs to a traced request. The store calls the other methods only for a traced request.
	Follows(ctx context.Context) bool
	// AttemptBegan records that an attempt at a transaction or single read starts. number starts at 0. The attempt runs with the returned context.
	AttemptBegan(ctx context.Context, op string, number int, read bool) context.Context
	// AttemptEnded records that an attempt ends. ctx is the context that AttemptBegan returned. end is a value of Attempt.End, or "panicked".
	AttemptEnded(ctx context.Context, end, sqlState string)
	// StatementRan records a statement. name is its file's name. pipelined is the number of statements that were sent together. failure is "" after
	// success. Otherwise it is the SQLSTATE, or another word if the database returned no SQLSTATE.
	StatementRan(ctx context.Context, name string, from, to time.Time, rows int64, pipelined int, failure string)
}

// try runs one attempt at op.
func (s *Store) try(ctx context.Context, op string, number int, read bool, attempt func(context.Context) error) (end outcome.Ending, state string, err error) {
	if s.tracer == nil || !s.tracer.Follows(ctx) {
		err = attempt(ctx)
		end, state = outcome.Classify(err)
		return end, state, err
	}
	ctx, ended := s.tracer.AttemptBegan(ctx, op, number, read), "panicked" // the arithmetic on addresses panics if a bug would lose address space
	defer func() { s.tracer.AttemptEnded(ctx, ended, state) }()
	err = attempt(ctx)
	end, state = outcome.Classify(err)
	ended = end.String()
	return end, state, err
}

// statements is a pgx tracer that passes each statement to a Tracer.
type statements struct{ to Tracer }

var (
	_ pgx.QueryTracer = statements{}
	_ pgx.BatchTracer = statements{}
)

// traced describes statements that were sent together. pgx passes it in the context from the start of the statements to their end.
type traced struct {
	name   string // the statement's name, if it was sent alone
	size   int
	from   time.Time
	failed bool
}

type tracedKey struct{}

func tracedOf(ctx context.Context) *traced {
	of, _ := ctx.Value(tracedKey{}).(*traced)
	return of
}

// TraceQueryStart implements pgx.QueryTracer.
func (t statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	return t.begin(ctx, data.SQL, 1)
}

// begin adds a value of the type traced to the context, if the request is traced.
func (t statements) begin(ctx context.Context, sql string, size int) context.Context {
	if !t.to.Follows(ctx) {
		return ctx
	}
	return context.WithValue(ctx, tracedKey{}, &traced{name: nameOf(sql), size: size, from: time.Now()})
}

// TraceQueryEnd implements pgx.QueryTracer.
func (t statements) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	if of := tracedOf(ctx); of != nil {
		t.to.StatementRan(ctx, of.name, of.from, time.Now(), data.CommandTag.RowsAffected(), 1, failureOf(data.Err))
	}
}

// TraceBatchStart implements pgx.BatchTracer.
func (t statements) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	return t.begin(ctx, "", data.Batch.Len())
}

// TraceBatchQuery implements pgx.BatchTracer. A batch's statements run one after another. So each statement starts when the previous result was read.
// After a failure the later statements did not run, although pgx reports them.
func (t statements) TraceBatchQuery(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	of := tracedOf(ctx)
	if of == nil || of.failed {
		return
	}
	now := time.Now()
	of.failed = data.Err != nil
	t.to.StatementRan(ctx, nameOf(data.SQL), of.from, now, data.CommandTag.RowsAffected(), of.size, failureOf(data.Err))
	of.from = now
}

// TraceBatchEnd implements pgx.BatchTracer. It records a batch that could not be sent. No other method records such a batch.
func (t statements) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchEndData) {
	if of := tracedOf(ctx); of != nil && data.Err != nil && !of.failed {
		of.failed = true
		t.to.StatementRan(ctx, "batch", of.from, time.Now(), 0, of.size, failureOf(data.Err))
	}
}

// failureOf returns a word for the error. The word contains nothing from the statement.
func failureOf(err error) string {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case err == nil:
		return ""
	case ok:
		return pg.Code
	case errors.Is(err, context.Canceled):
		return "canceled"
	case pgconn.Timeout(err), errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	default:
		return "connection"
	}
}

// nameOf returns a statement's name: its file's name, or a word for its effect on the transaction.
func nameOf(sql string) string {
	if name, ok := statementNames[sql]; ok {
		return name
	}
	if name, ok := query.Name(sql); ok {
		return name
	}
	return "other"
}

var statementNames = func() map[string]string {
	names := map[string]string{
		beginStatement: "begin", beginLocking: "begin", lockExclusive: "lock_alone", lockShared: "lock_shared", lockIdle: "lock_idle", lockAtOnce: "lock_at_once", "commit": "commit", "rollback": "rollback",
		// cockroach-go sends these on CockroachDB.
		"SAVEPOINT cockroach_restart": "savepoint", "RELEASE SAVEPOINT cockroach_restart": "release", "ROLLBACK TO SAVEPOINT cockroach_restart": "rollback_to_savepoint",
	}
	for _, e := range engines {
		begin, ask := e.staleRead()
		names[begin], names[ask] = "begin", "moment"
	}
	return names
}()

// attemptQuerier runs statements with their attempt's context, so that a trace shows them under the attempt. Its callers know only the request's
// context.
type attemptQuerier struct {
	lookup.Querier
	ctx context.Context //nolint:containedctx // the context of the attempt
}

// Query implements lookup.Querier.
func (w attemptQuerier) Query(_ context.Context, sql string, args ...any) (pgx.Rows, error) {
	return w.Querier.Query(w.ctx, sql, args...)
}

// SendBatch implements lookup.Querier.
func (w attemptQuerier) SendBatch(_ context.Context, b *pgx.Batch) pgx.BatchResults {
	return w.Querier.SendBatch(w.ctx, b)
}

// inAttempt returns a Querier that assigns a read's statements to its attempt, if the request is traced.
func (s *Store) inAttempt(ctx context.Context, q lookup.Querier) lookup.Querier {
	if s.tracer == nil || !s.tracer.Follows(ctx) {
		return q
	}
	return attemptQuerier{q, ctx}
}
