package audit

import (
	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/dial"
	"github.com/carve-ipam/carve/internal/crdb/schema"
)

// preparations returns statements that prepare a connection for reading whole tables.
//
// PostgreSQL needs two preparations:
//
//   - If the client is gone, PostgreSQL continues a statement until it has a result to send. It stops earlier only if it checks the connection.
//   - Right after a large load, PostgreSQL has no row counts. The planner then assumes one row in each table, and a join with 200,000 rows takes
//     minutes. ANALYZE counts the rows.
//
// CockroachDB needs none. It cancels a closed connection's statements, and without statistics it assumes more than one row. There ANALYZE takes 0.2 s
// even for a small table, and runs a job.
func preparations(e dial.Engine) []string {
	if e == dial.Cockroach {
		return nil
	}
	sql := []string{`SET client_connection_check_interval = '2s'`}
	for _, l := range schema.Tables() {
		sql = append(sql, "ANALYZE "+pgx.Identifier{l.Name}.Sanitize()) // a user without the privilege gets only a warning
	}
	return sql
}

// begin begins a transaction on CockroachDB that reads at a past time. A read at the present time fails with SQLSTATE 40001 if it meets a write that
// may be older. A full scan always meets such a write.
const begin = "begin transaction isolation level serializable, read only, as of system time '-1us'"

// snapshot returns the options for a transaction that reads one snapshot. On PostgreSQL it is not SERIALIZABLE, because that would abort the audit or
// the service's transactions.
func snapshot(e dial.Engine) pgx.TxOptions {
	if e == dial.Cockroach {
		return pgx.TxOptions{BeginQuery: begin}
	}
	return pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
}
