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

// auditLevel: SERIALIZABLE would abort the audit, or the writers, while the service works.
func (postgres) auditLevel() pgx.TxIsoLevel { return pgx.RepeatableRead }

// auditLevel: here SERIALIZABLE does not, and is the only level that every version gives.
func (cockroach) auditLevel() pgx.TxIsoLevel { return pgx.Serializable }
