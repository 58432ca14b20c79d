package bench

import (
	"context"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

func TestMain(m *testing.M) {
	dbtest.Main(m, dbtest.Config{Migrate: func(ctx context.Context, dsn string) error {
		return schema.Migrate(ctx, dsn, schema.MigrateOptions{Regions: []string{"local"}})
	}})
}

// fixture is a service with one pool on its own database.
type fixture struct {
	ctx   context.Context
	dsn   string
	store *crdb.Store
	svc   *alloc.Service
	pool  ipam.Pool
	bits  int
}

func newFixture(b *testing.B, cidr string, bits int) *fixture {
	b.Helper()
	f := &fixture{dsn: dbtest.New(b), bits: bits}
	f.ctx = tenancy.WithPrincipal(context.Background(), tenancy.Principal{Subject: "bench", Roles: map[string]tenancy.Role{ipam.PlatformProject: tenancy.Admin}})
	f.open(b)
	b.Cleanup(func() { f.store.Close() })
	require.NoError(b, f.svc.EnsurePlatform(f.ctx))
	f.pool = f.newPool(b, "p", cidr)
	return f
}

// newPool makes a root pool for claims of the fixture's length.
func (f *fixture) newPool(b *testing.B, name, cidr string) ipam.Pool {
	b.Helper()
	r, err := f.svc.CreatePool(f.ctx, ipam.PlatformProject, ipam.Pool{
		Metadata: ipam.Metadata{Name: name},
		Spec: ipam.PoolSpec{
			CIDR: netip.MustParsePrefix(cidr), Visibility: ipam.VisibilityConsumer,
			Allocation: ipam.Allocating{Strategy: ipam.BestFit, DefaultPrefixLength: &f.bits},
		},
	}, usecase.Request{})
	require.NoError(b, err)
	return r.Value
}

// open connects the service to the database again.
func (f *fixture) open(b *testing.B) {
	b.Helper()
	var err error
	f.store, err = crdb.Open(f.ctx, f.dsn, crdb.Options{Region: "local", MaxConnections: 16})
	require.NoError(b, err)
	f.svc = alloc.New(f.store, alloc.Options{Region: "local"})
}

func (f *fixture) claim(name string) error {
	_, err := f.svc.CreateClaim(f.ctx, ipam.PlatformProject, ipam.Claim{
		Metadata: ipam.Metadata{Name: name},
		Spec:     ipam.ClaimSpec{PoolRef: f.pool.Ref(), ReclaimPolicy: ipam.ReclaimDelete},
	}, usecase.Request{})
	return err
}

func (f *fixture) release(name string) error {
	return f.svc.DeleteClaim(f.ctx, ipam.PlatformProject, name, usecase.Request{})
}
