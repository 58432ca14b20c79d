package audit

import (
	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/dial"
	"github.com/carve-ipam/carve/internal/crdb/schema"
)

// preparations make a connection fit for statements that read whole tables, and end when their caller has gone.
//
// PostgreSQL goes on with a statement when nobody waits for it any more, until it has something to tell him, unless it looks whether he is there. And
// right after a large load nobody has counted the rows yet: whoever plans a join of two tables of one row each takes minutes with 200,000.
//
// CockroachDB cancels the statements of a connection that has gone, and plans for more than one row where it knows nothing. ANALYZE takes 0.2 s for a
// table there, however small, and a job.
func preparations(e dial.Engine) []string {
	if e == dial.Cockroach {
		return nil
	}
	sql := []string{`SET client_connection_check_interval = '2s'`}
	for _, l := range schema.Localities() {
		sql = append(sql, "ANALYZE "+pgx.Identifier{l.Table}.Sanitize()) // a user who may not is told so in a warning
	}
	return sql
}

// begin reads the past on CockroachDB, of however long ago: a read of the present ends with 40001 when it meets a write of which it cannot tell whether
// that is older, and whoever reads whole tables meets one.
const begin = "begin transaction isolation level serializable, read only, as of system time '-1us'"

// snapshot gives the statements one snapshot that nobody writes in. On PostgreSQL SERIALIZABLE would abort the audit, or the writers, while the service works.
func snapshot(e dial.Engine) pgx.TxOptions {
	if e == dial.Cockroach {
		return pgx.TxOptions{BeginQuery: begin}
	}
	return pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
}
