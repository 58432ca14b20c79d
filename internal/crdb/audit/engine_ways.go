package audit

import (
	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/dial"
	"github.com/carve-ipam/carve/internal/crdb/schema"
)

// preparations returns statements that prepare a connection for reading whole tables.
//
// PostgreSQL continues a statement after its client has gone, until it has a result to send, unless it checks the connection. And right after a large
// load it has no row counts: the planner assumes one row in each table, and its plan for a join takes minutes with 200,000 rows.
//
// CockroachDB cancels a closed connection's statements, and assumes more than one row without statistics. ANALYZE takes 0.2 s there even for a small
// table, and runs a job.
func preparations(e dial.Engine) []string {
	if e == dial.Cockroach {
		return nil
	}
	sql := []string{`SET client_connection_check_interval = '2s'`}
	for _, l := range schema.Localities() {
		sql = append(sql, "ANALYZE "+pgx.Identifier{l.Table}.Sanitize()) // without the privilege, the user gets only a warning
	}
	return sql
}

// begin starts a read at a past time on CockroachDB. A read at the present fails with 40001 when it meets a write that may be older, and a full scan
// always meets one.
const begin = "begin transaction isolation level serializable, read only, as of system time '-1us'"

// snapshot returns options for one read-only snapshot. On PostgreSQL, SERIALIZABLE would abort the audit or the writers while the service works.
func snapshot(e dial.Engine) pgx.TxOptions {
	if e == dial.Cockroach {
		return pgx.TxOptions{BeginQuery: begin}
	}
	return pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
}
