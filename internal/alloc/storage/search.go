package storage

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

// SearchReader searches several projects at once. For a prefix it returns the first limit objects of each project, by name.
type SearchReader interface {
	// PoolsBeginning returns pools without large fields, like PoolsAround.
	PoolsBeginning(ctx context.Context, projects []ipam.ID, text string, limit int) ([]ipam.Pool, error)
	SpacesBeginning(ctx context.Context, projects []ipam.ID, text string, limit int) ([]ipam.Space, error)
	ClassesBeginning(ctx context.Context, projects []ipam.ID, text string, limit int) ([]ipam.Class, error)
	// ClaimsBeginning returns claims' allocations: the first limit for each project in each region.
	ClaimsBeginning(ctx context.Context, projects []ipam.ID, text string, limit int) ([]ipam.Allocation, error)
	// ConsumersBeginning searches by UID, in one realm and in each region.
	ConsumersBeginning(ctx context.Context, projects []ipam.ID, realm, text string, limit int) ([]ipam.Consumer, error)

	// PoolsAround returns up to limit pools with blocks among the candidates, the smallest first, for some projects (nil: for all).
	PoolsAround(ctx context.Context, projects []ipam.ID, candidates []netip.Prefix, limit int) ([]ipam.Pool, error)
}
