package pgfault

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// way is one way in which a client can insert a row and commit in an open transaction.
type way struct {
	name string
	mode pgx.QueryExecMode
	run  func(ctx context.Context, conn *pgx.Conn, insert, commit string, id int64) error
}

// ways are all forms in which pgx can send COMMIT.
var ways = []way{
	{"SimpleQuery", pgx.QueryExecModeCacheStatement, func(ctx context.Context, conn *pgx.Conn, insert, commit string, id int64) error {
		if _, err := conn.Exec(ctx, insert, id); err != nil {
			return err
		}
		_, err := conn.Exec(ctx, commit)
		return err
	}},
	{"ExtendedUnnamed", pgx.QueryExecModeExec, func(ctx context.Context, conn *pgx.Conn, insert, commit string, id int64) error {
		if _, err := conn.Exec(ctx, insert, id); err != nil {
			return err
		}
		return conn.PgConn().ExecParams(ctx, commit, nil, nil, nil, nil).Read().Err
	}},
	{"Prepared", pgx.QueryExecModeCacheDescribe, func(ctx context.Context, conn *pgx.Conn, insert, commit string, id int64) error {
		if _, err := conn.Exec(ctx, insert, id); err != nil {
			return err
		}
		if _, err := conn.Prepare(ctx, "the_commit", commit); err != nil {
			return err
		}
		return conn.PgConn().ExecPrepared(ctx, "the_commit", nil, nil, nil).Read().Err
	}},
	{"BatchOfCachedStatements", pgx.QueryExecModeCacheStatement, batch},
	{"BatchOfUnnamedStatements", pgx.QueryExecModeExec, batch},
	{"BatchDescribedEachTime", pgx.QueryExecModeDescribeExec, batch},
	{"BatchAsOneSimpleQuery", pgx.QueryExecModeSimpleProtocol, batch},
}

func batch(ctx context.Context, conn *pgx.Conn, insert, commit string, id int64) error {
	b := &pgx.Batch{}
	b.Queue(insert, id)
	b.Queue(commit)
	return conn.SendBatch(ctx, b).Close()
}

// commit inserts a row in a new transaction and commits it in the given way.
func (w way) commit(ctx context.Context, pool *pgxpool.Pool, insert, commit string, id int64) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, "begin isolation level serializable"); err != nil {
		return err
	}
	return w.run(ctx, conn.Conn(), insert, commit, id)
}
