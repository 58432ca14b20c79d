// Package postgres provides a database server for measurements, and creates, copies and drops databases on it. The server is a private, durable
// PostgreSQL or an external server, which may be CockroachDB.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/dial"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/devdb"
)

// Database is a database server for measurements.
type Database struct {
	Admin   *pgx.Conn // connection to the server's first database
	Machine Machine
	// Cockroach means that the server is CockroachDB. It cannot copy a database and is slow to create Carve's schema. So all users share one database
	// with the schema.
	Cockroach bool

	server *devdb.DB // nil for an external server
	dir    string
	base   *url.URL
	made   int
	names  map[string]bool // databases that were created and not yet dropped
}

// Machine describes the conditions of a measurement.
type Machine struct {
	CPUs        int       `json:"cpus"`
	GoVersion   string    `json:"goVersion"`
	Started     time.Time `json:"started"`
	Version     string    `json:"version"` // of the database
	FSync       string    `json:"fsync,omitempty"`
	SyncCommit  string    `json:"synchronousCommit"`
	FullPages   string    `json:"fullPageWrites"`
	Connections string    `json:"maxConnections"`
	Buffers     string    `json:"sharedBuffers"`
}

const (
	// Carve is the database with Carve's schema, from which copies are made.
	Carve = "carve_template"
	// Region is the region of all its rows.
	Region = "local"
)

// Options configure the server.
type Options struct {
	URL         string // URL of an external server, whose user may create databases and run CHECKPOINT; if empty, Start starts a private server
	Dir         string // directory of the private server; Start creates it, and Close removes it
	Connections int
	Volatile    bool // for tests: the server does not write to the disk, so times are not meaningful
	// Prepare configures the private server before its final start. Start runs the server once for it, because some settings need an existing
	// cluster.
	Prepare func(ctx context.Context, conn *pgx.Conn) error
}

// Start starts the server, or connects to an external one, and creates the database with Carve's schema.
func Start(ctx context.Context, o Options) (_ *Database, err error) {
	d := &Database{names: map[string]bool{}, Machine: Machine{CPUs: runtime.NumCPU(), GoVersion: runtime.Version(), Started: time.Now().UTC().Truncate(time.Second)}}
	at := o.URL
	if at == "" {
		if err := d.launch(ctx, o); err != nil {
			return nil, err
		}
		at = d.server.DSN()
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	if d.base, err = url.Parse(at); err != nil {
		return nil, err
	}
	if d.Admin, err = pgx.Connect(ctx, at); err != nil {
		return nil, err
	}
	if err := d.settings(ctx); err != nil {
		return nil, err
	}
	if !o.Volatile && !d.Cockroach && (d.Machine.FSync != "on" || d.Machine.SyncCommit != "on") {
		return nil, errors.New("the database does not write commits to the disk: no time measured on it would mean anything")
	}
	if err := d.create(ctx, Carve, ""); err != nil {
		return nil, err
	}
	return d, schema.Migrate(ctx, d.DSN(Carve), schema.MigrateOptions{Regions: []string{Region}})
}

// launch starts the private server.
func (d *Database) launch(ctx context.Context, o Options) (err error) {
	if d.dir, err = filepath.Abs(o.Dir); err != nil {
		return err
	}
	if err := devdb.Remove(d.dir); err != nil { // a killed run may have left files behind
		return err
	}
	config := devdb.Config{DataDir: d.dir, MaxConnections: o.Connections, Volatile: o.Volatile}
	if o.Prepare != nil {
		err = prepare(ctx, config, o.Prepare)
	}
	if err == nil {
		d.server, err = devdb.Start(ctx, config)
	}
	if err != nil {
		err = errors.Join(err, devdb.Remove(d.dir))
	}
	return err
}

func prepare(ctx context.Context, config devdb.Config, with func(ctx context.Context, conn *pgx.Conn) error) (err error) {
	server, err := devdb.Start(ctx, config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop(context.WithoutCancel(ctx))) }()
	conn, err := pgx.Connect(ctx, server.DSN())
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return with(ctx, conn)
}

// settings reads the conditions of the measurement.
func (d *Database) settings(ctx context.Context) error {
	engine, err := dial.EngineOn(ctx, d.Admin)
	if err != nil {
		return err
	}
	if d.Cockroach = engine == dial.Cockroach; d.Cockroach {
		return d.Admin.QueryRow(ctx, "SELECT version()").Scan(&d.Machine.Version)
	}
	for setting, into := range map[string]*string{
		"server_version": &d.Machine.Version, "fsync": &d.Machine.FSync, "synchronous_commit": &d.Machine.SyncCommit,
		"full_page_writes": &d.Machine.FullPages, "max_connections": &d.Machine.Connections, "shared_buffers": &d.Machine.Buffers,
	} {
		if err := d.Admin.QueryRow(ctx, "SELECT current_setting($1)", setting).Scan(into); err != nil {
			return err
		}
	}
	return nil
}

// Private reports whether this process started the server.
func (d *Database) Private() bool { return d.server != nil }

// Copy creates a copy of a database and returns its name. On CockroachDB it returns the shared Carve database itself, or creates an empty database
// for another template.
func (d *Database) Copy(ctx context.Context, template string) (string, error) {
	if d.Cockroach && template == Carve {
		return Carve, nil
	}
	d.made++
	name := fmt.Sprintf("cell_%d", d.made)
	like := " TEMPLATE " + template
	if d.Cockroach {
		like = ""
	}
	return name, d.create(ctx, name, like)
}

func (d *Database) create(ctx context.Context, name, like string) error {
	_, err := d.Admin.Exec(ctx, "CREATE DATABASE "+name+like)
	if err == nil {
		d.names[name] = true
	}
	return err
}

// Drop removes a database and ends its sessions. It does nothing for a database that all users share.
func (d *Database) Drop(name string) error {
	if d.Cockroach && name == Carve {
		return nil
	}
	return d.drop(context.Background(), name)
}

func (d *Database) drop(ctx context.Context, name string) error {
	how := " WITH (FORCE)"
	if d.Cockroach {
		how = " CASCADE"
	}
	delete(d.names, name)
	_, err := d.Admin.Exec(ctx, "DROP DATABASE IF EXISTS "+name+how)
	return err
}

// Settle collects the planner's statistics and writes the seeded data to the disk. Otherwise both would happen during the measurement.
func (d *Database) Settle(ctx context.Context, name string) error {
	err := d.Analyze(ctx, name)
	if err == nil && !d.Cockroach {
		_, err = d.Admin.Exec(ctx, "CHECKPOINT")
	}
	return err
}

// Analyze collects the planner's statistics. CockroachDB collects them by itself. Unlike Settle, it runs no checkpoint. After a checkpoint,
// PostgreSQL logs the full content of each page at its first change. These pages dominate the log for some seconds and matter little after some
// minutes.
func (d *Database) Analyze(ctx context.Context, name string) error {
	if d.Cockroach {
		return nil
	}
	conn, err := pgx.Connect(ctx, d.DSN(name))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, sql := range []string{"SET maintenance_work_mem = '256MB'", "VACUUM (ANALYZE)"} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// DSN returns the DSN of a database.
func (d *Database) DSN(name string) string {
	u := *d.base
	u.Path = "/" + name
	return u.String()
}

// Close stops the private server and removes its directory. On an external server, it drops the databases that it created.
func (d *Database) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // a checkpoint of gigabytes may run first
	defer cancel()
	var errs []error
	if d.server == nil {
		for name := range d.names {
			errs = append(errs, d.drop(ctx, name))
		}
	}
	if d.Admin != nil {
		errs = append(errs, d.Admin.Close(ctx))
	}
	if d.server == nil {
		return errors.Join(errs...)
	}
	return errors.Join(append(errs, d.server.Stop(ctx), devdb.Remove(d.dir))...)
}
