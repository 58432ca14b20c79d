// Package postgres is a private, durable PostgreSQL to measure on, with databases in it that are made, copied and dropped.
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

	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/devdb"
)

// Database is the server.
type Database struct {
	Admin   *pgx.Conn // to the server's first database
	Machine Machine
	server  *devdb.DB
	dir     string
	base    *url.URL
	made    int
}

// Machine is what the figures depend on.
type Machine struct {
	CPUs        int       `json:"cpus"`
	GoVersion   string    `json:"goVersion"`
	Started     time.Time `json:"started"`
	PostgreSQL  string    `json:"postgresql"`
	FSync       string    `json:"fsync"`
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
	Dir         string // made, and removed by Close
	Connections int
	Volatile    bool // for tests: what is not written to the disk says nothing about time
	// Prepare is called before the server is started for good, on a first one: what has to be there from the start is said to a cluster that exists.
	Prepare func(ctx context.Context, conn *pgx.Conn) error
}

// Start starts the server, and makes the database with Carve's schema.
func Start(ctx context.Context, o Options) (_ *Database, err error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	if err := devdb.Remove(dir); err != nil { // what a killed run left
		return nil, err
	}
	config := devdb.Config{DataDir: dir, MaxConnections: o.Connections, Volatile: o.Volatile}
	if o.Prepare != nil {
		if err := prepare(ctx, config, o.Prepare); err != nil {
			return nil, errors.Join(err, devdb.Remove(dir))
		}
	}
	server, err := devdb.Start(ctx, config)
	if err != nil {
		return nil, errors.Join(err, devdb.Remove(dir))
	}
	d := &Database{server: server, dir: dir, Machine: Machine{CPUs: runtime.NumCPU(), GoVersion: runtime.Version(), Started: time.Now().UTC().Truncate(time.Second)}}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	if d.base, err = url.Parse(server.DSN()); err != nil {
		return nil, err
	}
	if d.Admin, err = pgx.Connect(ctx, server.DSN()); err != nil {
		return nil, err
	}
	if err := d.settings(ctx); err != nil {
		return nil, err
	}
	if !o.Volatile && (d.Machine.FSync != "on" || d.Machine.SyncCommit != "on") {
		return nil, errors.New("the database does not write commits to the disk: no time measured on it would mean anything")
	}
	if _, err := d.Admin.Exec(ctx, "CREATE DATABASE "+Carve); err != nil {
		return nil, err
	}
	return d, schema.Migrate(ctx, d.DSN(Carve), schema.MigrateOptions{Regions: []string{Region}})
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
	for setting, into := range map[string]*string{
		"server_version": &d.Machine.PostgreSQL, "fsync": &d.Machine.FSync, "synchronous_commit": &d.Machine.SyncCommit,
		"full_page_writes": &d.Machine.FullPages, "max_connections": &d.Machine.Connections, "shared_buffers": &d.Machine.Buffers,
	} {
		if err := d.Admin.QueryRow(ctx, "SELECT current_setting($1)", setting).Scan(into); err != nil {
			return err
		}
	}
	return nil
}

// Copy makes a database like another, and answers its name.
func (d *Database) Copy(ctx context.Context, template string) (string, error) {
	d.made++
	name := fmt.Sprintf("cell_%d", d.made)
	_, err := d.Admin.Exec(ctx, "CREATE DATABASE "+name+" TEMPLATE "+template)
	return name, err
}

// Drop removes a database, with who is connected to it.
func (d *Database) Drop(name string) error {
	_, err := d.Admin.Exec(context.Background(), "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
	return err
}

// Settle gives the planner its statistics and writes out what seeding left in memory, so that nothing that is measured pays for it.
func (d *Database) Settle(ctx context.Context, name string) error {
	conn, err := pgx.Connect(ctx, d.DSN(name))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, sql := range []string{"SET maintenance_work_mem = '256MB'", "VACUUM (ANALYZE)", "CHECKPOINT"} {
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

// Socket is the directory of the server's socket, its port, and the name to connect as.
func (d *Database) Socket() (dir, port, user string) {
	q := d.base.Query()
	return q.Get("host"), q.Get("port"), q.Get("user")
}

// Close stops the server and removes its directory.
func (d *Database) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // a checkpoint of gigabytes may come first
	defer cancel()
	var errs []error
	if d.Admin != nil {
		errs = append(errs, d.Admin.Close(ctx))
	}
	return errors.Join(append(errs, d.server.Stop(ctx), devdb.Remove(d.dir))...)
}
