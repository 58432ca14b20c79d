package scale

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/audit"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
	"github.com/carve-ipam/carve/lab/postgres"
)

// connections is the server's default number of database connections.
const connections = 16

// world is a Carve service on its own database.
type world struct {
	db      *database
	name    string
	store   *crdb.Store
	service *alloc.Service
	layout  layout
}

// newWorld makes a database and calls seed to fill it.
func newWorld(ctx context.Context, db *database, seed func(context.Context, *world) (layout, error)) (_ *world, err error) {
	w := &world{db: db}
	if w.name, err = db.Copy(ctx, postgres.Carve); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if err := w.open(ctx); err != nil {
		return nil, err
	}
	if err := w.service.EnsurePlatform(ctx); err != nil {
		return nil, err
	}
	if w.layout, err = seed(ctx, w); err != nil {
		return nil, err
	}
	w.store.Close() // its sessions have plans that were made for empty tables
	if err := db.Settle(ctx, w.name); err != nil {
		return nil, err
	}
	err = w.open(ctx)
	return w, err
}

// open connects to the database again and makes a new service.
func (w *world) open(ctx context.Context) (err error) {
	if w.store, err = crdb.Open(ctx, w.db.DSN(w.name), crdb.Options{Region: postgres.Region, MaxConnections: connections}); err != nil {
		return err
	}
	w.forget()
	return nil
}

// forget makes a new service with an empty cache.
func (w *world) forget() { w.service = alloc.New(w.store, alloc.Options{Region: postgres.Region}) }

func (w *world) close() error {
	if w.store != nil {
		w.store.Close()
	}
	return w.db.Drop(w.name)
}

func (w *world) project(ctx context.Context, name string) error {
	_, err := w.service.CreateProject(caller(ctx, "createProject", name), ipam.Project{Metadata: ipam.Metadata{Name: name}}, request)
	return err
}

// pool makes a root pool for claims of single addresses.
func (w *world) pool(ctx context.Context, project, name string, block netip.Prefix) error {
	bits := block.Addr().BitLen()
	_, err := w.service.CreatePool(caller(ctx, "createPool", name), project, ipam.Pool{
		Metadata: ipam.Metadata{Name: name},
		Spec:     ipam.PoolSpec{CIDR: block, Visibility: ipam.VisibilityConsumer, Allocation: ipam.Allocating{Strategy: ipam.BestFit, DefaultPrefixLength: &bits}},
	}, request)
	return err
}

func (w *world) claim(ctx context.Context, project, pool, name string) error {
	_, err := w.service.CreateClaim(caller(ctx, "createClaim", name), project, ask(ipam.Ref{Project: project, Name: pool}, name, nil), request)
	return err
}

// batch makes n claims in one transaction.
func (w *world) batch(ctx context.Context, project, pool, prefix string, n int) error {
	claims := make([]ipam.Claim, n)
	for i := range claims {
		claims[i] = ask(ipam.Ref{Project: project, Name: pool}, heldName(prefix, i), nil)
	}
	_, err := w.service.CreateClaimBatch(caller(ctx, "createClaimBatch", ""), project, claims, request)
	return err
}

func ask(pool ipam.Ref, name string, bits *int) ipam.Claim {
	return ipam.Claim{Metadata: ipam.Metadata{Name: name}, Spec: ipam.ClaimSpec{PoolRef: pool, PrefixLength: bits}}
}

// caller returns the context of an admin's HTTP request, so that the audit trail gets the same fields as in production.
func caller(ctx context.Context, operation, resource string) context.Context {
	ctx = tenancy.WithPrincipal(ctx, tenancy.Principal{Subject: "key:platform/scale", Method: "api-key", Roles: map[string]tenancy.Role{ipam.PlatformProject: tenancy.Admin}})
	return tenancy.WithOrigin(ctx, tenancy.Origin{RequestID: "0123456789abcdef0123456789abcdef", Remote: "192.0.2.1", Operation: operation, Resource: resource})
}

// audit checks every invariant of the data. It raises work_mem only for the sorts of the audit.
func (w *world) audit(ctx context.Context) error {
	if err := w.alter(ctx, "SET work_mem = '256MB'"); err != nil {
		return err
	}
	report, err := audit.Run(ctx, w.db.DSN(w.name))
	if err == nil && len(report.Findings) > 0 {
		err = fmt.Errorf("the audit has %d findings, the first: %+v", len(report.Findings), report.Findings[0])
	}
	return errors.Join(err, w.alter(ctx, "RESET work_mem"))
}

func (w *world) alter(ctx context.Context, what string) error {
	_, err := w.db.Admin.Exec(ctx, "ALTER DATABASE "+w.name+" "+what)
	return err
}

// recount checks the loaded data by comparing counts with the expected ones.
func (w *world) recount(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, w.db.DSN(w.name))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, c := range w.layout.count {
		var n int64
		if err := conn.QueryRow(ctx, c.sql).Scan(&n); err != nil {
			return fmt.Errorf("counting %s: %w", c.what, err)
		}
		if n != c.want {
			return fmt.Errorf("there are %d %s instead of %d", n, c.what, c.want)
		}
	}
	return nil
}
