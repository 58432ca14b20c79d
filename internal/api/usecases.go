package api

import (
	"context"
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
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

	ListClasses(ctx context.Context, project string, f alloc.Filter, limit int, cursor string) (alloc.Page[ipam.Class], error)
	CreateClass(ctx context.Context, project string, c ipam.Class, moveDefault bool, r alloc.Request) (alloc.Result[ipam.Class], error)
	GetClass(ctx context.Context, project, name string) (ipam.Class, error)
	PatchClass(ctx context.Context, project, name string, moveDefault bool, r alloc.Request, mutate func(ipam.Class) (ipam.Class, error)) (ipam.Class, error)
	DeleteClass(ctx context.Context, project, name string, r alloc.Request) error

	ListClaims(ctx context.Context, project string, f alloc.Filter, limit int, cursor string) (alloc.Page[ipam.Claim], error)
	CreateClaim(ctx context.Context, project string, c ipam.Claim, r alloc.Request) (alloc.Result[ipam.Claim], error)
	CreateClaimBatch(ctx context.Context, project string, claims []ipam.Claim, r alloc.Request) (alloc.Result[[]ipam.Claim], error)
	GetClaim(ctx context.Context, project, name string) (ipam.Claim, error)
	PutClaim(ctx context.Context, project string, c ipam.Claim, r alloc.Request) (alloc.Result[ipam.Claim], error)
	PatchClaim(ctx context.Context, project, name string, r alloc.Request, mutate func(ipam.Claim) (ipam.Claim, error)) (ipam.Claim, error)
	DeleteClaim(ctx context.Context, project, name string, r alloc.Request) error
	ExplainClaim(ctx context.Context, project string, c ipam.Claim) (alloc.Explanation, error)

	ListAllocations(ctx context.Context, project string, f alloc.Filter, limit int, cursor string) (alloc.Page[ipam.Allocation], error)
	GetAllocation(ctx context.Context, project, name string) (ipam.Allocation, error)
	DeleteAllocation(ctx context.Context, project, name string, r alloc.Request) error

	ListMembers(ctx context.Context, project string, limit int, cursor string) (alloc.Page[ipam.Member], error)
	GetMember(ctx context.Context, project, subject string) (ipam.Member, error)
	PutMember(ctx context.Context, project string, m ipam.Member, r alloc.Request) (alloc.Result[ipam.Member], error)
	DeleteMember(ctx context.Context, project, subject string, r alloc.Request) error

	ListKeys(ctx context.Context, project string, limit int, cursor string) (alloc.Page[ipam.APIKey], error)
	CreateKey(ctx context.Context, project string, k ipam.APIKey, r alloc.Request) (alloc.Result[ipam.APIKey], error)
	GetKey(ctx context.Context, project, name string) (ipam.APIKey, error)
	DeleteKey(ctx context.Context, project, name string, r alloc.Request) error

	ListPoolGrants(ctx context.Context, project, pool string, limit int, cursor string) (alloc.Page[ipam.Grant], error)
	GetPoolGrant(ctx context.Context, project, pool, consumer string) (ipam.Grant, error)
	PutPoolGrant(ctx context.Context, project, pool, consumer string, r alloc.Request) (alloc.Result[ipam.Grant], error)
	DeletePoolGrant(ctx context.Context, project, pool, consumer string, r alloc.Request) error

	ListSpaceGrants(ctx context.Context, project, space string, limit int, cursor string) (alloc.Page[ipam.Grant], error)
	GetSpaceGrant(ctx context.Context, project, space, consumer string) (ipam.Grant, error)
	PutSpaceGrant(ctx context.Context, project, space, consumer string, r alloc.Request) (alloc.Result[ipam.Grant], error)
	DeleteSpaceGrant(ctx context.Context, project, space, consumer string, r alloc.Request) error

	ListQuotas(ctx context.Context, project string, limit int, cursor string) (alloc.Page[ipam.Quota], error)
	GetQuota(ctx context.Context, project, name string) (ipam.Quota, error)
	PutQuota(ctx context.Context, project string, q ipam.Quota, r alloc.Request) (alloc.Result[ipam.Quota], error)
	DeleteQuota(ctx context.Context, project, name string, r alloc.Request) error

	ListEvents(ctx context.Context, project string, f alloc.EventFilter, limit int, cursor string) (alloc.Page[ipam.Event], error)
	// GetHistory answers who held an address: at a time, or at all times when it is zero.
	GetHistory(ctx context.Context, project string, address netip.Addr, at time.Time, limit int, cursor string) (alloc.Page[ipam.Hold], error)

	Whoami(ctx context.Context) (tenancy.Principal, error)
	// ListRegions answers the installation's regions, the primary one first, and that of this server.
	ListRegions(ctx context.Context) (all []ipam.Region, here string, err error)
	// Admit authorises an action before anything of the request is read, and records a refused change.
	Admit(ctx context.Context, action tenancy.Action, project string) error
}

var _ UseCases = (*alloc.Service)(nil)
