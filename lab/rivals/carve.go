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
	// connections is the server's default, whatever the number of clients.
	connections = 16
	poolName    = "pool"
)

// carved is Carve on a database of its own with one pool, of which so much is held.
type carved struct {
	db      *database
	name    string
	store   *crdb.Store
	service *alloc.Service
	bits    int
}

func openCarve(ctx context.Context, db *database, c cell) (*session, error) {
	f, err := newCarved(ctx, db, c)
	if err != nil {
		return nil, err
	}
	if err := db.Settle(ctx, f.name); err != nil {
		return nil, errors.Join(err, f.close())
	}
	next := newNames(c.clients)
	return &session{
		hand: func(ctx context.Context, client int) (uint64, error) {
			made, err := f.service.CreateClaim(asAdmin(ctx), ipam.PlatformProject, f.claim(poolName, next.name(client)), usecase.Request{})
			if err != nil {
				return 0, err
			}
			return number(made.Value.Block, f.bits)
		},
		first: uint64(c.held), //nolint:gosec // not negative
		check: f.audit,
		close: f.close,
	}, nil
}

// newCarved copies a database in which so much is held already: seeding it for each cell would take longer than to measure.
func newCarved(ctx context.Context, db *database, c cell) (*carved, error) {
	seed := fmt.Sprintf("carve_%d_%d", c.contestant.bits, c.held)
	if !db.seeded[seed] {
		f, err := openCarved(ctx, db, postgres.Carve, c.contestant.bits)
		if err != nil {
			return nil, err
		}
		err = f.plant(ctx, c.held)
		f.store.Close()
		if err == nil {
			err = db.keep(ctx, f.name, seed)
		}
		if err != nil {
			return nil, errors.Join(err, db.Drop(f.name))
		}
	}
	return openCarved(ctx, db, seed, c.contestant.bits)
}

func openCarved(ctx context.Context, db *database, template string, bits int) (_ *carved, err error) {
	f := &carved{db: db, bits: bits}
	if f.name, err = db.Copy(ctx, template); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.close())
		}
	}()
	if f.store, err = crdb.Open(ctx, db.DSN(f.name), crdb.Options{Region: postgres.Region, MaxConnections: connections}); err != nil {
		return nil, err
	}
	f.service = alloc.New(f.store, alloc.Options{Region: postgres.Region})
	return f, f.service.EnsurePlatform(ctx)
}

// plant makes the pool, and claims in batches, as a caller would who takes over an address plan.
func (f *carved) plant(ctx context.Context, n int) error {
	if err := f.pool(ctx, poolName, poolCIDR); err != nil {
		return err
	}
	return f.claims(ctx, poolName, n)
}

func (f *carved) pool(ctx context.Context, name, cidr string) error {
	_, err := f.service.CreatePool(asAdmin(ctx), ipam.PlatformProject, ipam.Pool{
		Metadata: ipam.Metadata{Name: name},
		Spec: ipam.PoolSpec{
			CIDR: netip.MustParsePrefix(cidr), Visibility: ipam.VisibilityConsumer,
			Allocation: ipam.Allocating{Strategy: ipam.FirstFit, DefaultPrefixLength: &f.bits},
		},
	}, usecase.Request{})
	return err
}

// claims makes n claims, which heldName names.
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
	made, err := f.service.CreateClaimBatch(asAdmin(ctx), ipam.PlatformProject, claims, usecase.Request{})
	return made.Value, err
}

func (f *carved) claim(pool, name string) ipam.Claim {
	return ipam.Claim{Metadata: ipam.Metadata{Name: name}, Spec: ipam.ClaimSpec{PoolRef: ipam.Ref{Project: ipam.PlatformProject, Name: pool}, PrefixLength: &f.bits}}
}

// audit holds the data to every invariant. Its joins need to know how large the tables have become, or they take minutes.
func (f *carved) audit(ctx context.Context) error {
	if err := f.db.Settle(ctx, f.name); err != nil {
		return err
	}
	report, err := audit.Run(ctx, f.db.DSN(f.name))
	if err == nil && len(report.Findings) > 0 {
		err = fmt.Errorf("the audit has %d findings, the first: %+v", len(report.Findings), report.Findings[0])
	}
	return err
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
