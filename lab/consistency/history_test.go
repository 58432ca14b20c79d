package consistency_test

import (
	"context"
	"fmt"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/audit"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/lab/consistency"
)

const (
	region  = "local"
	project = "acme"
)

func TestMain(m *testing.M) {
	dbtest.Main(m, dbtest.Config{Migrate: func(ctx context.Context, dsn string) error {
		return schema.Migrate(ctx, dsn, schema.MigrateOptions{Regions: []string{region}})
	}})
}

// service makes a service in this process a consistency.Target.
type service struct{ *alloc.Service }

func (s service) claim(ctx context.Context, pool, name string, spec ipam.ClaimSpec) (netip.Prefix, error) {
	spec.PoolRef, spec.ReclaimPolicy = ipam.Ref{Project: project, Name: pool}, ipam.ReclaimDelete
	r, err := s.CreateClaim(ctx, project, ipam.Claim{Metadata: ipam.Metadata{Name: name}, Spec: spec}, usecase.Request{})
	return r.Value.Block, err
}

// Claim implements consistency.Target.
func (s service) Claim(ctx context.Context, pool, name string, bits int) (netip.Prefix, error) {
	return s.claim(ctx, pool, name, ipam.ClaimSpec{PrefixLength: &bits})
}

// ClaimBlock implements consistency.Target.
func (s service) ClaimBlock(ctx context.Context, pool, name string, block netip.Prefix) (netip.Prefix, error) {
	return s.claim(ctx, pool, name, ipam.ClaimSpec{CIDR: block})
}

// Release implements consistency.Target.
func (s service) Release(ctx context.Context, _, name string) error {
	return s.DeleteClaim(ctx, project, name, usecase.Request{})
}

// bundle is several services on one database. They stand for separate server processes.
type bundle struct {
	ctx     context.Context
	dsn     string
	targets []consistency.Target
}

// setup makes the pools and the services. wrap may modify the store of each service.
func setup(t *testing.T, pools []consistency.Pool, strategy ipam.Strategy, services int, wrap func(storage.Store) storage.Store) *bundle {
	t.Helper()
	b := &bundle{
		ctx: tenancy.WithPrincipal(t.Context(), tenancy.Principal{Subject: "tester", Roles: map[string]tenancy.Role{ipam.PlatformProject: tenancy.Admin}}),
		dsn: dbtest.New(t),
	}
	for i := range services {
		store, err := crdb.Open(b.ctx, b.dsn, crdb.Options{Region: region})
		require.NoError(t, err)
		t.Cleanup(store.Close)
		if i == 0 {
			s := alloc.New(store, alloc.Options{Region: region})
			require.NoError(t, s.EnsurePlatform(b.ctx))
			_, err = s.CreateProject(b.ctx, ipam.Project{Metadata: ipam.Metadata{Name: project}}, usecase.Request{})
			require.NoError(t, err)
			for _, p := range pools {
				spec := ipam.PoolSpec{CIDR: p.Block, Visibility: ipam.VisibilityConsumer, Allocation: ipam.Allocating{Strategy: strategy}}
				_, err = s.CreatePool(b.ctx, project, ipam.Pool{Metadata: ipam.Metadata{Name: p.Name}, Spec: spec}, usecase.Request{})
				require.NoError(t, err)
			}
		}
		b.targets = append(b.targets, service{alloc.New(wrap(store), alloc.Options{Region: region})})
	}
	return b
}

func asItIs(s storage.Store) storage.Store { return s }

func pools() []consistency.Pool {
	return []consistency.Pool{
		{Name: "four", Block: netip.MustParsePrefix("10.0.0.0/28"), Unit: 32},
		{Name: "six", Block: netip.MustParsePrefix("2001:db8::/60"), Unit: 64},
	}
}

func TestHistoriesOfConcurrentClientsAreLinearizable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		strategy ipam.Strategy
		services int
		clients  int
	}{
		{ipam.BestFit, 1, 8}, {ipam.BestFit, 2, 6}, {ipam.BestFit, 3, 8},
		{ipam.FirstFit, 2, 8}, {ipam.Random, 2, 8}, {ipam.Sparse, 3, 6},
	} {
		for seed := range uint64(2) {
			t.Run(fmt.Sprintf("%sOn%dServicesSeed%d", c.strategy, c.services, seed), func(t *testing.T) {
				t.Parallel()
				b := setup(t, pools(), c.strategy, c.services, asItIs)
				r := consistency.Workload{Pools: pools(), Clients: c.clients, Operations: 40, Seed: seed}.Run(b.ctx, b.targets...)
				consistency.Require(t, r)
				tally := r.Tally()
				for _, outcome := range []string{"got", "exhausted", "taken", "released", "not found"} {
					require.Positive(t, tally[outcome], "%s: %v", outcome, tally)
				}
				require.Zero(t, tally["unknown"], "nothing was broken: %v", tally)
				t.Log(tally)
				report, err := audit.Run(b.ctx, b.dsn)
				require.NoError(t, err)
				require.Empty(t, report.Findings)
			})
		}
	}
}
