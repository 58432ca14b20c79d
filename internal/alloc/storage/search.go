package storage

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

// SearchReader searches several projects at once. For a prefix, it returns each project's first limit objects, in name order.
type SearchReader interface {
	// PoolsBeginning returns pools without large fields. So does PoolsAround.
	PoolsBeginning(ctx context.Context, projects []ipam.ID, text string, limit int) ([]ipam.Pool, error)
	SpacesBeginning(ctx context.Context, projects []ipam.ID, text string, limit int) ([]ipam.Space, error)
	ClassesBeginning(ctx context.Context, projects []ipam.ID, text string, limit int) ([]ipam.Class, error)
	// ClaimsBeginning returns allocations that claims hold: the first limit allocations for each project in each region.
	ClaimsBeginning(ctx context.Context, projects []ipam.ID, text string, limit int) ([]ipam.Allocation, error)
	// ConsumersBeginning searches one realm's consumers by UID, in each region.
	ConsumersBeginning(ctx context.Context, projects []ipam.ID, realm, text string, limit int) ([]ipam.Consumer, error)

	// PoolsAround returns up to limit pools with a block among the candidates, the smallest block first. If projects is nil, it searches all
	// projects.
	PoolsAround(ctx context.Context, projects []ipam.ID, candidates []netip.Prefix, limit int) ([]ipam.Pool, error)
}
