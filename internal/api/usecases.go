package api

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/ipam"
)

// UseCases is what the handlers call: the methods of *alloc.Service. Every failure is an *ipam.Error.
type UseCases interface {
	ListProjects(ctx context.Context, f alloc.Filter, limit int, cursor string) (alloc.Page[ipam.Project], error)
	CreateProject(ctx context.Context, p ipam.Project, r alloc.Request) (alloc.Result[ipam.Project], error)
	GetProject(ctx context.Context, name string) (ipam.Project, error)
	PatchProject(ctx context.Context, name string, r alloc.Request, mutate func(ipam.Project) (ipam.Project, error)) (ipam.Project, error)
	DeleteProject(ctx context.Context, name string, r alloc.Request) error

	ListSpaces(ctx context.Context, project string, f alloc.Filter, limit int, cursor string) (alloc.Page[ipam.Space], error)
	CreateSpace(ctx context.Context, project string, sp ipam.Space, r alloc.Request) (alloc.Result[ipam.Space], error)
	GetSpace(ctx context.Context, project, name string) (ipam.Space, error)
	PatchSpace(ctx context.Context, project, name string, r alloc.Request, mutate func(ipam.Space) (ipam.Space, error)) (ipam.Space, error)
	DeleteSpace(ctx context.Context, project, name string, r alloc.Request) error

	ListPools(ctx context.Context, project string, f alloc.Filter, limit int, cursor string) (alloc.Page[ipam.Pool], error)
	CreatePool(ctx context.Context, project string, p ipam.Pool, r alloc.Request) (alloc.Result[ipam.Pool], error)
	GetPool(ctx context.Context, project, name string) (ipam.Pool, error)
	GetPoolFree(ctx context.Context, project, name string, prefixLength *int, limit int, cursor string) (alloc.FreePage, error)
	PatchPool(ctx context.Context, project, name string, r alloc.Request, mutate func(ipam.Pool) (ipam.Pool, error)) (ipam.Pool, error)
	DeletePool(ctx context.Context, project, name string, r alloc.Request) error

	ListClaims(ctx context.Context, project string, f alloc.Filter, limit int, cursor string) (alloc.Page[ipam.Claim], error)
	CreateClaim(ctx context.Context, project string, c ipam.Claim, r alloc.Request) (alloc.Result[ipam.Claim], error)
	CreateClaimBatch(ctx context.Context, project string, claims []ipam.Claim, r alloc.Request) (alloc.Result[[]ipam.Claim], error)
	GetClaim(ctx context.Context, project, name string) (ipam.Claim, error)
	PutClaim(ctx context.Context, project string, c ipam.Claim, r alloc.Request) (alloc.Result[ipam.Claim], error)
	PatchClaim(ctx context.Context, project, name string, r alloc.Request, mutate func(ipam.Claim) (ipam.Claim, error)) (ipam.Claim, error)
	DeleteClaim(ctx context.Context, project, name string, r alloc.Request) error

	ListAllocations(ctx context.Context, project string, f alloc.Filter, limit int, cursor string) (alloc.Page[ipam.Allocation], error)
	GetAllocation(ctx context.Context, project, name string) (ipam.Allocation, error)
	DeleteAllocation(ctx context.Context, project, name string, r alloc.Request) error
}

var _ UseCases = (*alloc.Service)(nil)
