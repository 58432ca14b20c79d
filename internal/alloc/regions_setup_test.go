package alloc_test

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// eu and us are additional regions. Tests of a single region use only the constant region.
const (
	eu = "eu"
	us = "us"

	threeRegions = "three regions" // the kind of database that has them all
)

// world has one database with three regions, and a server in each region.
type world struct {
	*bundle
	in map[string]*alloc.Service
}

func setupRegions(t *testing.T) *world {
	t.Helper()
	dbtest.NeedsRegions(t)
	b := setupOn(t, dbtest.NewOf(t, threeRegions))
	w := &world{bundle: b, in: map[string]*alloc.Service{}}
	for _, r := range []string{region, eu, us} {
		store, err := crdb.Open(b.ctx, b.dsn, crdb.Options{Region: r})
		require.NoError(t, err)
		t.Cleanup(store.Close)
		w.in[r] = alloc.New(store, alloc.Options{Region: r, Clock: b.clock.read, Runway: time.Hour})
	}
	w.Service = w.in[region]
	return w
}

// storeIn opens another store on the database, in a region.
func (w *world) storeIn(t *testing.T, r string) (*crdb.Store, *attempts) {
	t.Helper()
	return w.store(t, func(o *crdb.Options) { o.Region = r })
}

// served makes a pool that serves all three regions.
func (w *world) served(t *testing.T, name, cidr string, more ...func(*ipam.PoolSpec)) ipam.Pool {
	t.Helper()
	spec := ipam.PoolSpec{
		CIDR: netip.MustParsePrefix(cidr), Visibility: ipam.VisibilityConsumer, Allocation: ipam.Allocating{Strategy: ipam.BestFit},
		Regions: []string{region, eu, us},
	}
	for _, f := range more {
		f(&spec)
	}
	got, err := w.CreatePool(w.ctx, project, ipam.Pool{Metadata: ipam.Metadata{Name: name}, Spec: spec}, usecase.Request{})
	require.NoError(t, err)
	return got.Value
}

func (w *world) claimIn(ctx context.Context, r, name, pool string, bits int) (ipam.Claim, error) {
	got, err := w.in[r].CreateClaim(ctx, project, ipam.Claim{
		Metadata: ipam.Metadata{Name: name},
		Spec:     ipam.ClaimSpec{PoolRef: ipam.Ref{Project: project, Name: pool}, PrefixLength: &bits},
	}, usecase.Request{})
	return got.Value, err
}
