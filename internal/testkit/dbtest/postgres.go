package dbtest

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/carve-ipam/carve/internal/devdb"
)

// template is the database that is migrated once and then copied.
const template = "carve_template"

// postgres is a private cluster of this process.
type postgres struct {
	db    *devdb.DB
	dir   string
	admin *pgxpool.Pool // makes and drops databases; its sessions stay open, because opening one takes as long as making a database
}

func startPostgres(ctx context.Context, cfg Config) (server, error) {
	base, err := openBase()
	if err != nil {
		return nil, err
	}
	defer base.close()
	base.sweep()
	p := &postgres{}
	err = base.newDir(func(dir string) error {
		p.dir = dir
		p.db, err = devdb.Start(ctx, devdb.Config{DataDir: dir, Volatile: true, MaxConnections: cfg.MaxConnections})
		return err
	})
	if err != nil {
		return nil, err
	}
	if p.admin, err = pgxpool.New(ctx, p.db.DSN()); err != nil {
		return nil, errors.Join(err, p.stop(ctx))
	}
	if err := p.makeTemplate(ctx, cfg); err != nil {
		return nil, errors.Join(fmt.Errorf("migrating the template: %w", err), p.close(ctx))
	}
	return p, nil
}

// makeTemplate migrates the template and closes it to connections. If a migration has left a connection open, it fails, because no test could copy
// the template.
func (p *postgres) makeTemplate(ctx context.Context, cfg Config) error {
	if err := p.execute(ctx, "CREATE DATABASE "+template); err != nil {
		return err
	}
	dsn, err := at(p.db.DSN(), template)
	if err != nil {
		return err
	}
	if err := cfg.Migrate(ctx, dsn); err != nil {
		return err
	}
	return p.execute(ctx, "ALTER DATABASE "+template+" WITH IS_TEMPLATE true ALLOW_CONNECTIONS false")
}

func (p *postgres) create(ctx context.Context, name string) (string, error) {
	// FILE_COPY copies files. The default strategy writes all blocks to the log. Without fsync, FILE_COPY takes half the time.
	if err := p.execute(ctx, "CREATE DATABASE "+name+" TEMPLATE "+template+" STRATEGY FILE_COPY"); err != nil {
		return "", err
	}
	return at(p.db.DSN(), name)
}

func (p *postgres) drop(ctx context.Context, name string) error {
	if err := p.db.Err(); err != nil {
		return err // this error explains more than a refused connection
	}
	return p.execute(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
}

func (p *postgres) execute(ctx context.Context, statement string) error {
	_, err := p.admin.Exec(ctx, statement)
	if err != nil {
		err = fmt.Errorf("%s: %w", statement, err)
	}
	return err
}

func (p *postgres) close(ctx context.Context) error {
	p.admin.Close()
	return p.stop(ctx)
}

func (p *postgres) stop(ctx context.Context) error {
	return errors.Join(p.db.Err(), p.db.Stop(ctx), devdb.Remove(p.dir))
}
