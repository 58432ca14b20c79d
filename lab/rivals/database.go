package rivals

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/devdb"
)

// database is the private PostgreSQL that everybody is measured on. Each cell gets a fresh database in it.
type database struct {
	server  *devdb.DB
	dir     string
	admin   *pgx.Conn
	base    *url.URL
	made    int
	seeded  map[string]bool // databases that cells are copied from
	machine machine
}

// machine is what the figures depend on.
type machine struct {
	CPUs        int       `json:"cpus"`
	GoVersion   string    `json:"goVersion"`
	Started     time.Time `json:"started"`
	PostgreSQL  string    `json:"postgresql"`
	FSync       string    `json:"fsync"`
	SyncCommit  string    `json:"synchronousCommit"`
	FullPages   string    `json:"fullPageWrites"`
	Connections string    `json:"maxConnections"`
}

// carveTemplate is a database with Carve's schema, of which each of its cells gets a copy.
const carveTemplate = "carve_template"

func startDatabase(ctx context.Context, dir string) (_ *database, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := devdb.Remove(dir); err != nil { // what a killed run left
		return nil, err
	}
	server, err := devdb.Start(ctx, devdb.Config{DataDir: dir, MaxConnections: 200})
	if err != nil {
		return nil, err
	}
	d := &database{server: server, dir: dir, seeded: map[string]bool{}, machine: machine{CPUs: runtime.NumCPU(), GoVersion: runtime.Version(), Started: time.Now().UTC().Truncate(time.Second)}}
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
		"server_version": &d.machine.PostgreSQL, "fsync": &d.machine.FSync, "synchronous_commit": &d.machine.SyncCommit,
		"full_page_writes": &d.machine.FullPages, "max_connections": &d.machine.Connections,
	} {
		if err := d.admin.QueryRow(ctx, "SELECT current_setting($1)", setting).Scan(into); err != nil {
			return nil, err
		}
	}
	if d.machine.FSync != "on" || d.machine.SyncCommit != "on" {
		return nil, errors.New("the database does not write commits to the disk: nothing measured on it would mean anything")
	}
	if _, err := d.admin.Exec(ctx, "CREATE DATABASE "+carveTemplate); err != nil {
		return nil, err
	}
	return d, crdb.Migrate(ctx, d.dsn(carveTemplate), crdb.MigrateOptions{Regions: []string{region}})
}

// fresh makes an empty database with PostgreSQL's own default isolation, and answers its name. (The embedded server's default
// is serializable, which is Carve's wish; the rivals were written for read committed, and are faster with it.)
func (d *database) fresh(ctx context.Context) (string, error) {
	name, err := d.copyOf(ctx, "template0")
	if err == nil {
		_, err = d.admin.Exec(ctx, "ALTER DATABASE "+name+" SET default_transaction_isolation = 'read committed'")
	}
	return name, err
}

func (d *database) copyOf(ctx context.Context, template string) (string, error) {
	d.made++
	name := fmt.Sprintf("cell_%d", d.made)
	_, err := d.admin.Exec(ctx, "CREATE DATABASE "+name+" TEMPLATE "+template)
	return name, err
}

// keep makes a database, to which nobody may be connected, one that cells are copied from.
func (d *database) keep(ctx context.Context, name, as string) error {
	_, err := d.admin.Exec(ctx, "ALTER DATABASE "+name+" RENAME TO "+as)
	d.seeded[as] = err == nil
	return err
}

func (d *database) drop(name string) error {
	_, err := d.admin.Exec(context.Background(), "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
	return err
}

// settle gives the planner its statistics and writes out what seeding left in memory, so that no cell pays for another.
func (d *database) settle(ctx context.Context, name string) error {
	conn, err := pgx.Connect(ctx, d.dsn(name))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, sql := range []string{"VACUUM (ANALYZE)", "CHECKPOINT"} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// pool connects to a database, with so many connections that no client waits for one.
func (d *database) pool(ctx context.Context, name string, clients int) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(d.dsn(name))
	if err != nil {
		return nil, err
	}
	config.MaxConns = int32(clients) //nolint:gosec // at most 64
	return pgxpool.NewWithConfig(ctx, config)
}

func (d *database) dsn(name string) string {
	u := *d.base
	u.Path = "/" + name
	return u.String()
}

// socket is the directory of the server's socket, and user the name to connect as.
func (d *database) socket() (dir, port, user string) {
	q := d.base.Query()
	return q.Get("host"), q.Get("port"), q.Get("user")
}

func (d *database) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var errs []error
	if d.admin != nil {
		errs = append(errs, d.admin.Close(ctx))
	}
	return errors.Join(append(errs, d.server.Stop(ctx), devdb.Remove(d.dir))...)
}
