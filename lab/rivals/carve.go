package rivals

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/claims"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/audit"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
	"github.com/carve-ipam/carve/lab/postgres"
)

const (
	// connections is the server's default number of database connections. It does not depend on the number of clients.
	connections = 16
	poolName    = "pool"
)

var claimed = addressBits // prefix length of the claimed blocks

// carved is a Carve service with one pool and a number of held blocks. It has its own database, or its own project in a shared database.
type carved struct {
	db      *database
	name    string
	project string
	store   *crdb.Store
	service *alloc.Service
}

func openCarve(ctx context.Context, db *database, c cell) (*session, error) {
	f, err := newCarved(ctx, db, c.held)
	if err != nil {
		return nil, err
	}
	if err := f.settle(ctx, c); err != nil {
		return nil, errors.Join(err, f.close())
	}
	next := newNames(c.clients)
	return &session{
		hand: func(ctx context.Context, client int) (uint64, error) {
			made, err := f.service.CreateClaim(asAdmin(ctx), f.project, f.claim(poolName, next.name(client)), usecase.Request{})
			if err != nil {
				return 0, err
			}
			return number(made.Value.Block)
		},
		first: uint64(c.held), //nolint:gosec // not negative
		check: f.check(c),
		close: f.close,
	}, nil
}

// newCarved copies a database that already contains the held blocks. To seed each cell separately would take longer than the measurement.
func newCarved(ctx context.Context, db *database, held int) (*carved, error) {
	seed := fmt.Sprintf("%d held", held)
	if db.seeded[seed] == "" {
		f, err := openCarved(ctx, db, postgres.Carve)
		if err != nil {
			return nil, err
		}
		if err = f.plant(ctx, held); err != nil || db.Cockroach {
			return f, errors.Join(err, f.closeIf(err))
		}
		f.store.Close()
		db.seeded[seed] = f.name
	}
	return openCarved(ctx, db, db.seeded[seed])
}

func openCarved(ctx context.Context, db *database, template string) (_ *carved, err error) {
	f := &carved{db: db, project: "bench"}
	if db.Cockroach {
		db.shared++
		f.project = fmt.Sprintf("bench-%d", db.shared)
	}
	if f.name, err = db.Copy(ctx, template); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.closeIf(err)) }()
	if f.store, err = crdb.Open(ctx, db.DSN(f.name), crdb.Options{Region: postgres.Region, MaxConnections: connections}); err != nil {
		return nil, err
	}
	f.service = alloc.New(f.store, alloc.Options{Region: postgres.Region})
	return f, f.service.EnsurePlatform(ctx)
}

// plant makes the project, the pool and the claims. It claims in batches, as a client that imports an address plan would.
func (f *carved) plant(ctx context.Context, n int) error {
	if _, err := f.service.CreateProject(asAdmin(ctx), ipam.Project{Metadata: ipam.Metadata{Name: f.project}}, usecase.Request{}); err != nil {
		return err
	}
	if err := f.pool(ctx, poolName, poolCIDR); err != nil {
		return err
	}
	return f.claims(ctx, poolName, n)
}

func (f *carved) pool(ctx context.Context, name, cidr string) error {
	_, err := f.service.CreatePool(asAdmin(ctx), f.project, ipam.Pool{
		Metadata: ipam.Metadata{Name: name},
		Spec: ipam.PoolSpec{
			CIDR: netip.MustParsePrefix(cidr), Visibility: ipam.VisibilityConsumer,
			Allocation: ipam.Allocating{Strategy: ipam.FirstFit, DefaultPrefixLength: &claimed},
		},
	}, usecase.Request{})
	return err
}

// claims makes n claims with names from heldName.
func (f *carved) claims(ctx context.Context, pool string, n int) error {
	for from := 0; from < n; from += claims.MaxBatch {
		if _, err := f.batch(ctx, pool, min(claims.MaxBatch, n-from), func(i int) string { return heldName(from + i) }); err != nil {
			return err
		}
	}
	return nil
}

func heldName(n int) string { return "held-" + strconv.Itoa(n) }

func (f *carved) batch(ctx context.Context, pool string, n int, name func(int) string) ([]ipam.Claim, error) {
	claims := make([]ipam.Claim, n)
	for i := range claims {
		claims[i] = f.claim(pool, name(i))
	}
	made, err := f.service.CreateClaimBatch(asAdmin(ctx), f.project, claims, usecase.Request{})
	return made.Value, err
}

func (f *carved) claim(pool, name string) ipam.Claim {
	return ipam.Claim{Metadata: ipam.Metadata{Name: name}, Spec: ipam.ClaimSpec{PoolRef: ipam.Ref{Project: f.project, Name: pool}, PrefixLength: &claimed}}
}

func (f *carved) settle(ctx context.Context, c cell) error {
	if c.held > 0 {
		return f.db.Analyze(ctx, f.name)
	}
	return f.db.Settle(ctx, f.name)
}

// check returns the audit of the cell's data for its first round, or nil for later rounds. A shared database is audited once, at the end.
func (f *carved) check(c cell) func(context.Context) error {
	if c.round > 0 || f.db.Cockroach {
		return nil
	}
	return func(ctx context.Context) error { return f.db.audit(ctx, f.name) }
}

// audit checks every invariant of the data. It first collects new statistics, because its joins would take minutes without them.
func (d *database) audit(ctx context.Context, name string) error {
	if err := d.Settle(ctx, name); err != nil {
		return err
	}
	report, err := audit.Run(ctx, d.DSN(name))
	if err == nil && len(report.Findings) > 0 {
		err = fmt.Errorf("the audit has %d findings, the first: %+v", len(report.Findings), report.Findings[0])
	}
	return err
}

// closeIf closes f if err is not nil.
func (f *carved) closeIf(err error) error {
	if err == nil {
		return nil
	}
	return f.close()
}

func (f *carved) close() error {
	if f.store != nil {
		f.store.Close()
	}
	return f.db.Drop(f.name)
}

func asAdmin(ctx context.Context) context.Context {
	return tenancy.WithPrincipal(ctx, tenancy.Principal{Subject: "bench", Roles: map[string]tenancy.Role{ipam.PlatformProject: tenancy.Admin}})
}
