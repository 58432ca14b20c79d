package storage

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

// SearchReader finds things in several projects at once. Of what begins with a text it answers the first limit of each project, by name.
type SearchReader interface {
	// PoolsBeginning answers pools without what may be large, as PoolsAround does.
	PoolsBeginning(ctx context.Context, projects []ipam.ID, text string, limit int) ([]ipam.Pool, error)
	SpacesBeginning(ctx context.Context, projects []ipam.ID, text string, limit int) ([]ipam.Space, error)
	ClassesBeginning(ctx context.Context, projects []ipam.ID, text string, limit int) ([]ipam.Class, error)
	// ClaimsBeginning answers the allocations of claims: the first limit of each project in each region.
	ClaimsBeginning(ctx context.Context, projects []ipam.ID, text string, limit int) ([]ipam.Allocation, error)
	// ConsumersBeginning goes by UID, in one realm and in each region.
	ConsumersBeginning(ctx context.Context, projects []ipam.ID, realm, text string, limit int) ([]ipam.Consumer, error)

	// PoolsAround answers up to limit pools whose blocks are among the candidates, the smallest first: of some projects (nil: of all).
	PoolsAround(ctx context.Context, projects []ipam.ID, candidates []netip.Prefix, limit int) ([]ipam.Pool, error)
}
