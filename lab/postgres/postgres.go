// Package postgres is a database server to measure on, with databases in it that are made, copied and dropped: a private, durable PostgreSQL,
// or one that somebody else has started, which may be CockroachDB.
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

// Database is the server.
type Database struct {
	Admin   *pgx.Conn // to the server's first database
	Machine Machine
	// Cockroach: it is CockroachDB, which cannot copy a database and takes long to make Carve's schema, so there is one with it, which all share.
	Cockroach bool

	server *devdb.DB // nil: somebody else's
	dir    string
	base   *url.URL
	made   int
	names  map[string]bool // what was made and not dropped
}

// Machine is what the figures depend on.
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
	// Carve is a database with Carve's schema, to make copies of.
	Carve = "carve_template"
	// Region is where all of its rows live.
	Region = "local"
)

// Options say how the server is started.
type Options struct {
	URL         string // of somebody else's server, who may make databases there and write checkpoints; empty: a private one is started
	Dir         string // made, and removed by Close
	Connections int
	Volatile    bool // for tests: what is not written to the disk says nothing about time
	// Prepare is called before the server is started for good, on a first one: what has to be there from the start is said to a cluster that exists.
	Prepare func(ctx context.Context, conn *pgx.Conn) error
}

// Start starts the server, or connects to somebody else's, and makes the database with Carve's schema.
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
	if err := devdb.Remove(d.dir); err != nil { // what a killed run left
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

// settings reads what the figures depend on.
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

// Private is whether the server is one of our own processes.
func (d *Database) Private() bool { return d.server != nil }

// Copy makes a database like another, and answers its name; on CockroachDB the other one itself, or an empty one.
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

// Drop removes a database, with who is connected to it, unless all share it.
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

// Settle gives the planner its statistics and writes out what seeding left in memory, so that nothing that is measured pays for it.
func (d *Database) Settle(ctx context.Context, name string) error {
	err := d.Analyze(ctx, name)
	if err == nil && !d.Cockroach {
		_, err = d.Admin.Exec(ctx, "CHECKPOINT")
	}
	return err
}

// Analyze gives the planner its statistics, which CockroachDB collects by itself. Without a checkpoint, pages that were just copied are not
// written whole to the log when they change, which in seconds would be most of what is written, and is little in minutes.
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

// DSN is how to connect to a database.
func (d *Database) DSN(name string) string {
	u := *d.base
	u.Path = "/" + name
	return u.String()
}

// Close stops the private server and removes its directory, or drops what was made on somebody else's.
func (d *Database) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // a checkpoint of gigabytes may come first
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
