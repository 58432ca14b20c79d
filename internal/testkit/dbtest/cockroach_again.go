package dbtest

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// emptied is a database with nothing in it but what the migrations write.
type emptied struct {
	database, dsn string
	schema        string // when the descriptors of its tables were last changed
}

// emptyingLimit bounds how long a database may take to be emptied; one that takes longer is still in use, and is dropped.
const emptyingLimit = 10 * time.Second

// reuse answers a database that was emptied, for a test that calls it by a name.
func (c *cockroach) reuse(name string) (emptied, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.empty) == 0 {
		return emptied{}, false
	}
	left := c.empty[len(c.empty)-1]
	c.empty = c.empty[:len(c.empty)-1]
	c.made[name] = left
	return left, true
}

// note remembers how a database was made.
func (c *cockroach) note(ctx context.Context, name, dsn string) error {
	if len(c.schema.names) == 0 {
		return nil // there are no tables to be emptied: what is in it is the test's
	}
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	schema, err := schemaOf(ctx, conn)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made == nil {
		c.made = map[string]emptied{}
	}
	c.made[name] = emptied{database: name, dsn: dsn, schema: schema}
	return nil
}

// schemaOf is when a database's tables, or itself, were last changed, and how many of them there are.
func schemaOf(ctx context.Context, conn *pgx.Conn) (string, error) {
	all, err := texts(ctx, conn, `SELECT concat_ws(' ', count(*), max(crdb_internal_mvcc_timestamp)) FROM system.descriptor
WHERE id IN (SELECT table_id FROM crdb_internal.tables WHERE database_name = current_database() AND drop_time IS NULL UNION ALL
SELECT id FROM crdb_internal.databases WHERE name = current_database())`)
	return strings.Join(all, ","), err
}

// recycle empties a database for the next test. It answers false when that is not possible: the test has changed the schema, or something goes on in it.
func (c *cockroach) recycle(ctx context.Context, name string) bool {
	c.mu.Lock()
	left, ok := c.made[name]
	c.mu.Unlock()
	if !ok {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, emptyingLimit)
	defer cancel()
	cfg, err := pgx.ParseConfig(left.dsn)
	if err != nil {
		return false
	}
	cfg.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol // several statements in one
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return false
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if schema, err := schemaOf(ctx, conn); err != nil || schema != left.schema {
		return false
	}
	active, err := texts(ctx, conn, "SELECT count(*)::STRING FROM crdb_internal.cluster_queries WHERE database = current_database()")
	if err != nil || len(active) != 1 || active[0] != "1" { // this one
		return false
	}
	statements := []string{"BEGIN"}
	for _, table := range slices.Backward(c.schema.names) {
		statements = append(statements, "DELETE FROM "+table+" WHERE true")
	}
	statements = append(append(statements, c.schema.rows...), "COMMIT")
	if _, err := conn.Exec(ctx, strings.Join(statements, ";\n")); err != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.made, name)
	c.empty = append(c.empty, left)
	return true
}
