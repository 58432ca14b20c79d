package scale

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/devdb"
)

// database is the private PostgreSQL that everything is measured on. Each cell has a database in it.
type database struct {
	server  *devdb.DB
	dir     string
	admin   *pgx.Conn
	base    *url.URL
	made    int
	machine machine
}

// machine is what the figures depend on.
type machine struct {
	CPUs       int       `json:"cpus"`
	GoVersion  string    `json:"goVersion"`
	Started    time.Time `json:"started"`
	PostgreSQL string    `json:"postgresql"`
	FSync      string    `json:"fsync"`
	SyncCommit string    `json:"synchronousCommit"`
	Buffers    string    `json:"sharedBuffers"`
}

// carveTemplate is a database with Carve's schema, of which each cell gets a copy.
const carveTemplate = "carve_template"

// region is where all rows live.
const region = "local"

// errNoStatistics: this PostgreSQL cannot count by statement.
var errNoStatistics = errors.New("this PostgreSQL has no pg_stat_statements, which counts what each statement costs: install PostgreSQL's contrib modules (Debian's package postgresql has them)")

// startDatabase starts PostgreSQL twice: the module that counts by statement has to be there from the start, and a cluster
// that does not exist yet cannot be told.
func startDatabase(ctx context.Context, dir string, volatile bool) (_ *database, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	if err := devdb.Remove(dir); err != nil { // what a killed run left
		return nil, err
	}
	config := devdb.Config{DataDir: dir, MaxConnections: 50, Volatile: volatile}
	if err := prepare(ctx, config); err != nil {
		return nil, errors.Join(err, devdb.Remove(dir))
	}
	server, err := devdb.Start(ctx, config)
	if err != nil {
		return nil, errors.Join(err, devdb.Remove(dir))
	}
	d := &database{server: server, dir: dir, machine: machine{CPUs: runtime.NumCPU(), GoVersion: runtime.Version(), Started: time.Now().UTC().Truncate(time.Second)}}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.close())
		}
	}()
	if d.base, err = url.Parse(server.DSN()); err != nil {
		return nil, err
	}
	if d.admin, err = pgx.Connect(ctx, server.DSN()); err != nil {
		return nil, err
	}
	for setting, into := range map[string]*string{
		"server_version": &d.machine.PostgreSQL, "fsync": &d.machine.FSync, "synchronous_commit": &d.machine.SyncCommit, "shared_buffers": &d.machine.Buffers,
	} {
		if err := d.admin.QueryRow(ctx, "SELECT current_setting($1)", setting).Scan(into); err != nil {
			return nil, err
		}
	}
	for _, sql := range []string{"CREATE EXTENSION pg_stat_statements", "CREATE DATABASE " + carveTemplate} {
		if _, err := d.admin.Exec(ctx, sql); err != nil {
			return nil, err
		}
	}
	return d, crdb.Migrate(ctx, d.dsn(carveTemplate), crdb.MigrateOptions{Regions: []string{region}})
}

// prepare makes the cluster, and says what it is to begin with. Bulk loads write much log at once: with the default bound there
// would be a checkpoint every few seconds.
func prepare(ctx context.Context, config devdb.Config) (err error) {
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
	var there bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'pg_stat_statements')").Scan(&there); err != nil {
		return err
	}
	if !there {
		return errNoStatistics
	}
	for _, sql := range []string{"ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'", "ALTER SYSTEM SET max_wal_size = '4GB'"} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// fresh makes a database with Carve's schema and nothing in it, and answers its name.
func (d *database) fresh(ctx context.Context) (string, error) {
	d.made++
	name := fmt.Sprintf("cell_%d", d.made)
	_, err := d.admin.Exec(ctx, "CREATE DATABASE "+name+" TEMPLATE "+carveTemplate)
	return name, err
}

func (d *database) drop(name string) error {
	_, err := d.admin.Exec(context.Background(), "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
	return err
}

// settle gives the planner its statistics and writes out what seeding left in memory, so that no operation pays for it.
func (d *database) settle(ctx context.Context, name string) error {
	conn, err := pgx.Connect(ctx, d.dsn(name))
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

func (d *database) dsn(name string) string {
	u := *d.base
	u.Path = "/" + name
	return u.String()
}

func (d *database) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // a checkpoint of gigabytes comes first
	defer cancel()
	var errs []error
	if d.admin != nil {
		errs = append(errs, d.admin.Close(ctx))
	}
	return errors.Join(append(errs, d.server.Stop(ctx), devdb.Remove(d.dir))...)
}
