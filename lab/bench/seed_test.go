package bench

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/storage"
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

// fixture is a service on a database of its own with one pool.
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

// newPool makes a root pool that carves the fixture's length.
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

// open connects the service anew.
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

// fill bulk-loads n held blocks into the real tables: side by side, or every second one so that the free list is as
// fragmented as it can be. The audit must find the result clean.
func (f *fixture) fill(b *testing.B, n int, fragmented bool) {
	b.Helper()
	c, err := pgx.Connect(f.ctx, f.dsn)
	require.NoError(b, err)
	defer c.Close(f.ctx)
	step := 1
	if fragmented {
		step = 2
	}
	container := storage.PoolContainer(f.pool)
	now := time.Now().UTC().Truncate(time.Microsecond)
	doc := fmt.Sprintf(`{"p":"%s","b":"bench","d":3}`, f.pool.Ref())
	holds := pgx.CopyFromSlice(n, func(i int) ([]any, error) {
		p := f.nth(i * step)
		id := ipam.DerivedID(f.pool.UID, fmt.Sprint(i))
		return []any{container.Region, [16]byte(container.ProjectID), [16]byte(container.ID), p.Addr().AsSlice(), int16(f.bits), [16]byte(ipam.DerivedID(id, "allocation")),
			"Claim", "Bound", [16]byte(container.ProjectID), fmt.Sprintf("held-%08d", i), [16]byte(id), [16]byte(id), now, doc}, nil
	})
	_, err = c.CopyFrom(f.ctx, pgx.Identifier{"holds"}, []string{"region", "project_id", "container_id", "base", "plen", "id",
		"purpose", "phase", "holder_project_id", "name", "claim_id", "revision", "since", "doc"}, holds)
	require.NoError(b, err)
	_, err = c.Exec(f.ctx, "DELETE FROM free_blocks WHERE container_id = $1", [16]byte(container.ID))
	require.NoError(b, err)
	var free []netip.Prefix
	if fragmented {
		for i := range n {
			free = append(free, f.nth(i*2+1))
		}
	}
	free = append(free, f.rest(n*step)...)
	_, err = c.CopyFrom(f.ctx, pgx.Identifier{"free_blocks"}, []string{"region", "container_id", "host_bits", "base"},
		pgx.CopyFromSlice(len(free), func(i int) ([]any, error) {
			return []any{container.Region, [16]byte(container.ID), int16(free[i].Addr().BitLen() - free[i].Bits()), free[i].Addr().AsSlice()}, nil
		}))
	require.NoError(b, err)
	_, err = crdb.RenewEpochs(f.ctx, c.Config().ConnString()) // the fence counts what is free now
	require.NoError(b, err)
	_, err = c.Exec(f.ctx, "ANALYZE")
	require.NoError(b, err)
}

// nth is the nth block of the claim length in the pool. (Not by the service's own arithmetic.)
func (f *fixture) nth(n int) netip.Prefix {
	raw := f.pool.Block.Addr().AsSlice()
	if len(raw) == 4 {
		binary.BigEndian.PutUint32(raw, binary.BigEndian.Uint32(raw)+uint32(n)<<(32-f.bits))
	} else { // lengths up to /64 only
		binary.BigEndian.PutUint64(raw, binary.BigEndian.Uint64(raw)+uint64(n)<<(64-f.bits))
	}
	a, _ := netip.AddrFromSlice(raw)
	return netip.PrefixFrom(a, f.bits)
}

// rest is the maximal blocks from the nth block of the claim length to the end of the pool.
func (f *fixture) rest(n int) []netip.Prefix {
	total := 1 << (f.bits - f.pool.Block.Bits())
	var out []netip.Prefix
	for n < total {
		size := 1
		for n%(size*2) == 0 && n+size*2 <= total {
			size *= 2
		}
		bits := f.bits
		for s := size; s > 1; s /= 2 {
			bits--
		}
		out = append(out, netip.PrefixFrom(f.nth(n).Addr(), bits))
		n += size
	}
	return out
}
