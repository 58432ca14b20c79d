package dbtest

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// emptied is a database that contains only the rows of the migrations.
type emptied struct {
	database, dsn string
	schema        string // identifies the state of its schema; see schemaOf
}

// If a database cannot be emptied in this time, it is still in use, and is dropped instead. A database in several regions takes longer.
const (
	emptyingLimit        = 10 * time.Second
	emptyingLimitRegions = time.Minute
)

// reuse returns an emptied database and registers it under the name of the new test's database.
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

// note records the state of a new database.
func (c *cockroach) note(ctx context.Context, name, dsn string) error {
	if len(c.schema.names) == 0 {
		return nil // no migrated tables to empty: all tables are the test's
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

// schemaOf returns the number of a database's descriptors and the time of their last change. CockroachDB has a descriptor for each database and
// table, so every change of the schema changes the result.
func schemaOf(ctx context.Context, conn *pgx.Conn) (string, error) {
	all, err := texts(ctx, conn, `SELECT concat_ws(' ', count(*), max(crdb_internal_mvcc_timestamp)) FROM system.descriptor
WHERE id IN (SELECT table_id FROM crdb_internal.tables WHERE database_name = current_database() AND drop_time IS NULL UNION ALL
SELECT id FROM crdb_internal.databases WHERE name = current_database())`)
	return strings.Join(all, ","), err
}

// recycle empties a database for the next test. It returns false if the test has changed the schema, or if a statement still runs in the database.
func (c *cockroach) recycle(ctx context.Context, name string) bool {
	c.mu.Lock()
	left, ok := c.made[name]
	c.mu.Unlock()
	if !ok {
		return false
	}
	limit := emptyingLimit
	if c.schema.multiRegion() {
		limit = emptyingLimitRegions
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cfg, err := pgx.ParseConfig(left.dsn)
	if err != nil {
		return false
	}
	cfg.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol // sends several statements as one
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return false
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if schema, err := schemaOf(ctx, conn); err != nil || schema != left.schema {
		return false
	}
	active, err := texts(ctx, conn, "SELECT count(*)::STRING FROM crdb_internal.cluster_queries WHERE database = current_database()")
	if err != nil || len(active) != 1 || active[0] != "1" { // only this query
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
