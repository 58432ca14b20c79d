package crdb_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/ipam"
)

// homeOfServed is the home region of the pools in this file. The tests record the statements of a server in another region.
const homeOfServed = "far"

func withFarPool(t *testing.T, h *house, p string) {
	t.Helper()
	require.NoError(t, schema.Migrate(t.Context(), h.dsn, schema.MigrateOptions{Regions: []string{region, homeOfServed}}))
	pool := rootPool("pool", "10.0.0.0/16")
	pool.Spec.Region, pool.Spec.Regions = homeOfServed, []string{homeOfServed, region}
	_, err := h.svc.CreatePool(admin(t), p, pool, usecase.Request{})
	require.NoError(t, err)
}

func withLoan(t *testing.T, h *house, p string) {
	t.Helper()
	withFarPool(t, h, p)
	moved, err := h.svc.RebalanceStocks(admin(t))
	require.NoError(t, err)
	require.Equal(t, 1, moved)
}

func withClaimOfLoan(t *testing.T, h *house, p string) {
	t.Helper()
	withLoan(t, h, p)
	_, err := h.svc.CreateClaim(admin(t), p, claimOf("claim", p, "pool", 28), usecase.Request{})
	require.NoError(t, err)
}

func withFencedLoan(t *testing.T, h *house, p string) {
	t.Helper()
	withLoan(t, h, p)
	exec(t, h, "UPDATE stocks SET epoch = gen_random_uuid() WHERE region = '"+region+"'")
}

// regionReadings contains the requests on pools in several regions.
var regionReadings = map[string]reading{
	"JobKeepStocks": {withFarPool, func(ctx context.Context, s server, _ string) error {
		moved, err := s.svc.RebalanceStocks(ctx)
		if err == nil && moved != 1 {
			err = errors.New("nothing was lent")
		}
		return err
	}},
	"CreateClaimOfLent": {withLoan, func(ctx context.Context, s server, p string) error {
		return failure(s.svc.CreateClaim(ctx, p, claimOf("claim", p, "pool", 28), usecase.Request{}))
	}},
	"CreateClaimThatBorrows": {withFarPool, func(ctx context.Context, s server, p string) error {
		return failure(s.svc.CreateClaim(ctx, p, claimOf("claim", p, "pool", 28), usecase.Request{}))
	}},
	"DeleteClaimOfLent": {withClaimOfLoan, func(ctx context.Context, s server, p string) error {
		return s.svc.DeleteClaim(ctx, p, "claim", usecase.Request{})
	}},
	"GetPoolInRegions": {withLoan, func(ctx context.Context, s server, p string) error {
		return failure(s.svc.GetPool(ctx, p, "pool", usecase.Reading{}))
	}},
	"PatchPoolToGiveUpARegion": {withLoan, func(ctx context.Context, s server, p string) error {
		return failure(s.svc.PatchPool(ctx, p, "pool", usecase.Request{}, func(p ipam.Pool) (ipam.Pool, error) {
			p.Spec.Regions = nil
			return p, nil
		}))
	}},
	"ReconcileRegion": {withFencedLoan, func(ctx context.Context, s server, _ string) error {
		return failure(s.svc.Reconcile(ctx, regions.Reconciling{Repair: true}))
	}},
}
