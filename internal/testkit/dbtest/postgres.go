package dbtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/carve-ipam/carve/internal/devdb"
)

// postgres is a private cluster of this process.
type postgres struct {
	db    *devdb.DB
	dir   string
	admin *pgxpool.Pool // makes and drops databases; its sessions stay open, because opening one takes as long as making a database

	templates map[string]*template[string] // names of databases, which are migrated once and then copied
}

func startPostgres(ctx context.Context, cfg Config) (server, error) {
	base, err := openBase()
	if err != nil {
		return nil, err
	}
	defer base.close()
	base.sweep()
	p := &postgres{templates: templatesOf[string](cfg)}
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
	return p, nil
}

// makeTemplate migrates a new database and closes it to connections. It fails here if a migration left a connection open, because later no test
// could copy the template.
func (p *postgres) makeTemplate(ctx context.Context, t *template[string]) (string, error) {
	name := "carve_template_" + strings.ToLower(rand.Text())
	if err := p.execute(ctx, "CREATE DATABASE "+name); err != nil {
		return "", err
	}
	dsn, err := dsnOf(p.db.DSN(), name)
	if err != nil {
		return "", err
	}
	if err := t.migrate(ctx, dsn); err != nil {
		return "", err
	}
	return name, p.execute(ctx, "ALTER DATABASE "+name+" WITH IS_TEMPLATE true ALLOW_CONNECTIONS false")
}

func (p *postgres) create(ctx context.Context, name, kind string) (string, error) {
	template, err := stateOf(ctx, p.templates, kind, p.makeTemplate)
	if err != nil {
		return "", err
	}
	// Without fsync, a copy of files takes half the time of the default, a copy of blocks through the log.
	if err := p.execute(ctx, "CREATE DATABASE "+name+" TEMPLATE "+template+" STRATEGY FILE_COPY"); err != nil {
		return "", err
	}
	return dsnOf(p.db.DSN(), name)
}

func (p *postgres) drop(ctx context.Context, name string) error {
	if err := p.db.Err(); err != nil {
		return err // explains more than a refused connection
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
