package crdb

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// prepareAudit makes a connection fit for statements that read whole tables. What the user may not do, or the database does not know, is left: it costs
// time, and no finding depends on it.
//
// Right after a large load nobody has counted the rows yet, and whoever plans a join of two tables of one row each takes minutes with 200,000.
func prepareAudit(ctx context.Context, eng engine, c *pgx.Conn) {
	for _, sql := range eng.unwatched() {
		_, _ = c.Exec(ctx, sql)
	}
	for _, l := range Localities() {
		_, _ = c.Exec(ctx, analyze(l.Table))
	}
}

// analyze counts a table's rows and looks at some: a user who may not is told so in a warning on PostgreSQL, in an error on CockroachDB.
func analyze(table string) string { return "ANALYZE " + name(table) }

// unwatched: a statement goes on when nobody waits for it any more, until it has something to tell him; unless the server looks whether he is there.
func (postgres) unwatched() []string { return []string{`SET client_connection_check_interval = '2s'`} }

// unwatched: it cancels the statements of a connection that has gone.
func (cockroach) unwatched() []string { return nil }
