package scale

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// seeder loads a cell in bulk. It copies rows that the use cases wrote, so that the loaded rows have all columns and the same form.
type seeder struct {
	*pgx.Conn
	taken map[string]string // temporary tables with the removed rows, which serve as originals for copies
}

// uid returns SQL for an id that depends on a kind and the number of the copy. Like the product's ids, these ids spread over the whole index.
func uid(kind string) string { return "md5('" + kind + "' || g.n)::UUID" }

// padded returns SQL for a name that ends with a number. The names sort like their numbers.
func padded(prefix, number string) string {
	return "'" + prefix + "' || lpad((" + number + ")::TEXT, 8, '0')"
}

// literal returns SQL for the first address of a block.
func literal(block netip.Prefix) string {
	return "'" + `\x` + hex.EncodeToString(block.Addr().AsSlice()) + "'::BYTEA"
}

// address returns SQL for the IPv4 address that is a number of places after the first one.
func address(first, places string) string {
	return "decode(lpad(to_hex(('x' || encode(" + first + ", 'hex'))::BIT(32)::BIGINT + (" + places + ")), 8, '0'), 'hex')"
}

func newSeeder(ctx context.Context, dsn string) (*seeder, error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	s := &seeder{conn, map[string]string{}}
	for _, sql := range []string{
		// The server's default is SERIALIZABLE, which would lock each of millions of rows.
		"SET default_transaction_isolation = 'read committed'",
		"SET synchronous_commit = off", "SET maintenance_work_mem = '512MB'", "SET work_mem = '128MB'",
		// This skips the foreign key check of each row. The audit checks all rows later.
		"SET session_replication_role = replica",
	} {
		if _, err := s.Exec(ctx, sql); err != nil {
			return nil, errors.Join(err, s.Close(ctx))
		}
	}
	return s, nil
}

// clone copies the table's rows (as t) that the condition where selects, once for each row of the table from. change replaces some columns.
func (s *seeder) clone(ctx context.Context, table, where, from string, change map[string]string) error {
	columns, err := s.columns(ctx, table)
	if err != nil {
		return err
	}
	for name := range change {
		if !slices.Contains(columns, name) {
			return fmt.Errorf("table %s has no column %s any more: the seed is to be brought up to date", table, name)
		}
	}
	values := make([]string, len(columns))
	for i, name := range columns {
		values[i] = "t." + name
		if expression, ok := change[name]; ok {
			values[i] = expression
		}
	}
	sql := fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s CROSS JOIN (SELECT * FROM %s AS t WHERE %s) AS t",
		table, strings.Join(columns, ", "), strings.Join(values, ", "), from, cmp.Or(s.taken[table], table), where)
	if _, err := s.Exec(ctx, sql); err != nil {
		return fmt.Errorf("loading %s: %w", table, err)
	}
	return nil
}

// take moves rows out of a table into a temporary table, so that copies can replace them.
func (s *seeder) take(ctx context.Context, table, where string) error {
	s.taken[table] = "taken_" + table
	return firstError(
		func() error {
			return s.run(ctx, "CREATE TEMP TABLE taken_"+table+" AS SELECT * FROM "+table+" AS t WHERE "+where)
		},
		func() error { return s.run(ctx, "DELETE FROM "+table+" AS t WHERE "+where) },
	)
}

func (s *seeder) run(ctx context.Context, sql string) error {
	_, err := s.Exec(ctx, sql)
	return err
}

func (s *seeder) columns(ctx context.Context, table string) ([]string, error) {
	rows, err := s.Query(ctx, "SELECT attname::TEXT FROM pg_attribute WHERE attrelid = $1::TEXT::REGCLASS AND attnum > 0 AND NOT attisdropped ORDER BY attnum", table)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// many is the number of rows from which it is faster to build the indexes after the load.
const many = 200_000

// job loads one table.
type job struct {
	table string
	load  func(s *seeder) error
}

// loadAll loads several tables concurrently, each over its own connection. rows is the approximate number of rows in total.
func (w *world) loadAll(ctx context.Context, rows int, jobs ...job) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, j := range jobs {
		group.Go(func() error {
			s, err := newSeeder(ctx, w.db.DSN(w.name))
			if err != nil {
				return err
			}
			defer s.Close(context.WithoutCancel(ctx))
			return s.bulk(ctx, rows, j)
		})
	}
	return group.Wait()
}

// bulk loads a table. For many rows, it first drops the indexes, which is faster, and makes identical indexes afterwards.
func (s *seeder) bulk(ctx context.Context, rows int, j job) error {
	if rows < many {
		return j.load(s)
	}
	drop, create, err := s.indexes(ctx, j.table)
	if err != nil {
		return err
	}
	for _, sql := range drop {
		if err := s.run(ctx, sql); err != nil {
			return err
		}
	}
	if err := j.load(s); err != nil {
		return err
	}
	for _, sql := range create {
		if err := s.run(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

// indexes returns the statements that drop and recreate a table's indexes. It drops the indexes of keys by their constraints. An index that a foreign
// key of another table needs stays.
func (s *seeder) indexes(ctx context.Context, table string) (drop, create []string, err error) {
	rows, err := s.Query(ctx, `
		SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', $1::TEXT, conname), format('ALTER TABLE %s ADD CONSTRAINT %I %s', $1::TEXT, conname, pg_get_constraintdef(oid))
		FROM pg_constraint AS k WHERE conrelid = $1::TEXT::REGCLASS AND contype IN ('p', 'u')
			AND NOT EXISTS (SELECT 1 FROM pg_constraint AS f WHERE f.contype = 'f' AND f.conindid = k.conindid)
		UNION ALL
		SELECT format('DROP INDEX %I', c.relname), pg_get_indexdef(i.indexrelid)
		FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
		WHERE i.indrelid = $1::TEXT::REGCLASS AND NOT EXISTS (SELECT 1 FROM pg_constraint AS k WHERE k.conindid = i.indexrelid)`, table)
	if err != nil {
		return nil, nil, err
	}
	var gone, back string
	_, err = pgx.ForEachRow(rows, []any{&gone, &back}, func() error {
		drop, create = append(drop, gone), append(create, back)
		return nil
	})
	return drop, create, err
}

// series returns SQL for the numbers from … to (inclusive), as g.n.
func series(from, to int) string {
	return fmt.Sprintf("generate_series(%d::INT8, %d::INT8) AS g (n)", from, to)
}
