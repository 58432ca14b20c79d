package schema

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/migrations"
)

// unlock removes the schema locks and returns the tables that had one. If nothing must change, it removes no lock.
func (o MigrateOptions) unlock(ctx context.Context, eng engine, c *pgx.Conn, cfg *pgx.ConnConfig) ([]string, error) {
	locked, err := eng.lockedTables(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("cannot read which tables are schema-locked: %w", err)
	}
	if len(locked) == 0 {
		return nil, nil
	}
	change, err := pending(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if !change {
		places, err := eng.localities(ctx, c, len(o.Regions))
		if err != nil || len(places) == 0 {
			return nil, err
		}
	}
	_, err = o.take(ctx, c, lockSteps(locked, false))
	return locked, err
}

// lock restores the schema locks. If the process dies before that, the tables stay unlocked, which does not affect their use.
func (o MigrateOptions) lock(ctx context.Context, c *pgx.Conn, tables []string) error {
	_, err := o.take(ctx, c, lockSteps(tables, true))
	return err
}

func lockSteps(tables []string, to bool) (steps []ddl) {
	for _, table := range tables {
		message := "the table " + table + " is unlocked for changes of its schema"
		if to {
			message = "the table " + table + " is schema-locked again"
		}
		steps = append(steps, ddl{setLocked(table, to), message})
	}
	return steps
}

// pending reports whether migration files must still be applied.
func pending(ctx context.Context, cfg *pgx.ConnConfig) (bool, error) {
	p, closeDB, err := provider(cfg, migrations.FS)
	if err != nil {
		return false, err
	}
	defer closeDB()
	is, err := p.HasPending(ctx)
	if err != nil {
		return false, fmt.Errorf("cannot read the schema's version: %w", err)
	}
	return is, nil
}
