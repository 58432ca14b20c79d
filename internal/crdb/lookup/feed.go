package lookup

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// ClaimsNamed implements storage.Reader.
func (r Reader) ClaimsNamed(ctx context.Context, project storage.ProjectKey, names []string) ([]ipam.Claim, error) {
	return List(ctx, r, "claim_list_named", claimIn(project), r.regions.Everywhere(), project.ID, names)
}

// PoolsNamed implements storage.Reader.
func (r Reader) PoolsNamed(ctx context.Context, project storage.ProjectKey, names []string) ([]ipam.Pool, error) {
	return List(ctx, r, "pool_list_named", rows.Pools.Scan, project.ID, names)
}

// HoldingsNamed implements storage.Reader.
func (r Reader) HoldingsNamed(ctx context.Context, project storage.ProjectKey, ids []ipam.ID) ([]ipam.Allocation, error) {
	return List(ctx, r, "holding_list_named", allocationOfItsPool, r.regions.Everywhere(), project.ID, ids)
}
