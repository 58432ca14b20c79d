package dbtest

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
)

// schemaCopy is a migrated database as a few statements. It replaces template databases, which CockroachDB does not have. Migrations change existing
// tables one by one and take half a minute. The statements make new tables in one transaction, which takes a second.
type schemaCopy struct {
	regions []string // quoted, the primary region first; empty for a database without regions
	tables  string
	names   []string // of the tables; each table refers only to earlier tables
	rows    []string // INSERT statements for the rows of the migrations
}

// multiRegion reports whether the tables are in several regions.
func (s schemaCopy) multiRegion() bool { return len(s.regions) > 1 }

var createdTable = regexp.MustCompile(`^CREATE TABLE public\.("?\w+"?) \(`)

// readSchema reads a database's schema and rows.
func readSchema(ctx context.Context, dsn string) (s schemaCopy, err error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return s, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	s.regions, err = texts(ctx, conn, `SELECT quote_ident(region) FROM [SHOW REGIONS FROM DATABASE] ORDER BY "primary" DESC, region`)
	if err != nil {
		return s, err
	}
	all, err := texts(ctx, conn, "SELECT create_statement FROM [SHOW CREATE ALL TABLES]") // each table refers only to earlier tables
	if err != nil {
		return s, err
	}
	var tables strings.Builder
	for _, statement := range all {
		named := createdTable.FindStringSubmatch(statement)
		if named == nil {
			continue // a sequence comes with its table, and a foreign key with SHOW CREATE TABLE
		}
		created, err := texts(ctx, conn, "SELECT create_statement FROM [SHOW CREATE TABLE "+named[1]+"]")
		if err != nil {
			return s, err
		}
		tables.WriteString(strings.TrimSuffix(created[0], ";") + ";\n")
		s.names = append(s.names, named[1])
		row, err := readRows(ctx, conn, named[1])
		if err != nil {
			return s, err
		}
		s.rows = append(s.rows, row...)
	}
	s.tables = tables.String()
	return s, nil
}

// readRows returns INSERT statements for a table's rows. The statements omit generated keys, because the new table generates them again.
func readRows(ctx context.Context, conn *pgx.Conn, table string) (inserts []string, err error) {
	columns, err := texts(ctx, conn, `SELECT quote_ident(column_name) FROM information_schema.columns
WHERE table_schema = 'public' AND table_name = '`+strings.Trim(table, `"`)+`' AND is_identity = 'NO' AND is_hidden = 'NO' ORDER BY ordinal_position`)
	if err != nil {
		return nil, err
	}
	literals := make([]string, len(columns))
	for i, column := range columns {
		literals[i] = "quote_nullable(" + column + "::STRING)"
	}
	rows, err := texts(ctx, conn, "SELECT concat_ws(', ', "+strings.Join(literals, ", ")+") FROM "+table)
	for _, row := range rows {
		inserts = append(inserts, fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, strings.Join(columns, ", "), row))
	}
	return inserts, err
}

func texts(ctx context.Context, conn *pgx.Conn, sql string) ([]string, error) {
	rows, err := conn.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", sql, err)
	}
	return out, nil
}

// database returns the statement that makes a database with these regions.
func (s schemaCopy) database(name string) string {
	var sql strings.Builder
	sql.WriteString("CREATE DATABASE " + name)
	for i, region := range s.regions {
		switch i {
		case 0:
			sql.WriteString(" PRIMARY REGION " + region)
		case 1:
			sql.WriteString(" REGIONS " + strings.Join(s.regions, ", "))
		}
	}
	return sql.String()
}

// fill makes the tables and rows in a new database, in one transaction.
func (s schemaCopy) fill(ctx context.Context, dsn string) error {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return err
	}
	cfg.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol // sends several statements as one
	cfg.RuntimeParams["autocommit_before_ddl"] = "off"
	cfg.RuntimeParams["create_table_with_schema_locked"] = "off"
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, s.tables); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, strings.Join(s.rows, ";\n"))
	return err
}
