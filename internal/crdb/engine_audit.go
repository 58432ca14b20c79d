package crdb

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// prepareAudit makes a connection fit for statements that read whole tables. What the user may not do, or the database does not know, is left: it costs
// time, and no finding depends on it.
func prepareAudit(ctx context.Context, eng engine, c *pgx.Conn) {
	for _, sql := range eng.beforeAudit() {
		_, _ = c.Exec(ctx, sql)
	}
}

// beforeAudit: a statement goes on when nobody waits for it any more, until it has something to tell him, unless the server looks whether he is there. And
// right after a large load nobody has counted the rows yet: whoever plans a join of two tables of one row each takes minutes with 200,000.
func (postgres) beforeAudit() []string {
	sql := []string{`SET client_connection_check_interval = '2s'`}
	for _, l := range Localities() {
		sql = append(sql, "ANALYZE "+name(l.Table)) // a user who may not is told so in a warning
	}
	return sql
}

// beforeAudit: it cancels the statements of a connection that has gone, and plans for more than one row where it knows nothing. ANALYZE takes 0.2 s for a
// table here, however small, and a job.
func (cockroach) beforeAudit() []string { return nil }

// auditOptions: SERIALIZABLE would abort the audit, or the writers, while the service works.
func (postgres) auditOptions() pgx.TxOptions {
	return pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
}

// beginAudit reads the past, of however long ago: a read of the present ends with 40001 when it meets a write of which it cannot tell whether that is
// older, and whoever reads whole tables meets one.
const beginAudit = "begin transaction isolation level serializable, read only, as of system time '-1us'"

func (cockroach) auditOptions() pgx.TxOptions { return pgx.TxOptions{BeginQuery: beginAudit} }
