package api

import (
	"context"
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/allocations"
	"github.com/carve-ipam/carve/internal/alloc/claims"
	"github.com/carve-ipam/carve/internal/alloc/consumers"
	"github.com/carve-ipam/carve/internal/alloc/feed"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/pools"
	"github.com/carve-ipam/carve/internal/alloc/releases"
	"github.com/carve-ipam/carve/internal/alloc/search"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/alloc/utilization"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// UseCases is the interface to the use cases, in groups by kind of resource. Every error is an *ipam.Error.
type UseCases interface {
	ListProjects(ctx context.Context, f paging.Filter, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Project], error)
	CreateProject(ctx context.Context, p ipam.Project, r usecase.Request) (usecase.Result[ipam.Project], error)
	GetProject(ctx context.Context, name string) (ipam.Project, error)
	PatchProject(ctx context.Context, name string, r usecase.Request, mutate func(ipam.Project) (ipam.Project, error)) (ipam.Project, error)
	DeleteProject(ctx context.Context, name string, r usecase.Request) error

	ListSpaces(ctx context.Context, project string, f paging.Filter, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Space], error)
	CreateSpace(ctx context.Context, project string, sp ipam.Space, r usecase.Request) (usecase.Result[ipam.Space], error)
	GetSpace(ctx context.Context, project, name string) (ipam.Space, error)
	PatchSpace(ctx context.Context, project, name string, r usecase.Request, mutate func(ipam.Space) (ipam.Space, error)) (ipam.Space, error)
	DeleteSpace(ctx context.Context, project, name string, r usecase.Request) error

	ListPools(ctx context.Context, project string, f paging.Filter, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Pool], error)
	CreatePool(ctx context.Context, project string, p ipam.Pool, r usecase.Request) (usecase.Result[ipam.Pool], error)
	GetPool(ctx context.Context, project, name string, r usecase.Reading) (ipam.Pool, error)
	GetPoolFree(ctx context.Context, project, name string, prefixLength *int, limit int, cursor string, r usecase.Reading) (pools.FreePage, error)
	GetPoolUtilization(ctx context.Context, project, name string, a utilization.Query, r usecase.Reading) (utilization.History, error)
	PatchPool(ctx context.Context, project, name string, r usecase.Request, mutate func(ipam.Pool) (ipam.Pool, error)) (ipam.Pool, error)
	DeletePool(ctx context.Context, project, name string, r usecase.Request) error

	ListClasses(ctx context.Context, project string, f paging.Filter, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Class], error)
	CreateClass(ctx context.Context, project string, c ipam.Class, moveDefault bool, r usecase.Request) (usecase.Result[ipam.Class], error)
	GetClass(ctx context.Context, project, name string, r usecase.Reading) (ipam.Class, error)
	PatchClass(ctx context.Context, project, name string, moveDefault bool, r usecase.Request, mutate func(ipam.Class) (ipam.Class, error)) (ipam.Class, error)
	DeleteClass(ctx context.Context, project, name string, r usecase.Request) error

	ListClaims(ctx context.Context, project string, f paging.Filter, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Claim], error)
	CreateClaim(ctx context.Context, project string, c ipam.Claim, r usecase.Request) (usecase.Result[ipam.Claim], error)
	CreateClaimBatch(ctx context.Context, project string, claims []ipam.Claim, r usecase.Request) (usecase.Result[[]ipam.Claim], error)
	GetClaim(ctx context.Context, project, name string, r usecase.Reading) (ipam.Claim, error)
	PutClaim(ctx context.Context, project string, c ipam.Claim, r usecase.Request) (usecase.Result[ipam.Claim], error)
	PatchClaim(ctx context.Context, project, name string, r usecase.Request, mutate func(ipam.Claim) (ipam.Claim, error)) (ipam.Claim, error)
	DeleteClaim(ctx context.Context, project, name string, r usecase.Request) error
	ReleaseClaims(ctx context.Context, project string, q releases.Selection, r usecase.Request) (releases.Report, error)
	// PutScopePool creates a scope's pool if it does not exist. GetScopePool reads this pool. ListScopePools lists a class's pools for all scopes.
	PutScopePool(ctx context.Context, project, class string, scope map[string]string, r usecase.Request) (usecase.Result[ipam.Pool], error)
	GetScopePool(ctx context.Context, project, class string, scope map[string]string) (ipam.Pool, error)
	ListScopePools(ctx context.Context, project, class string, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Pool], error)
	ExplainClaim(ctx context.Context, project string, c ipam.Claim) (claims.Explanation, error)

	ListAllocations(ctx context.Context, project string, f paging.Filter, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Allocation], error)
	GetAllocation(ctx context.Context, project, name string, r usecase.Reading) (ipam.Allocation, error)
	GetPoolMap(ctx context.Context, project, name string, within netip.Prefix, depth int, r usecase.Reading) (allocations.Map, error)
	DeleteAllocation(ctx context.Context, project, name string, r usecase.Request) error

	Follow(ctx context.Context, project, cursor string, f feed.Filter) (*feed.Follower, error)
	// ChangesMark returns a position in the feed that precedes every later read. ChangesCursor converts the position into a cursor for a list that
	// was read after ChangesMark.
	ChangesMark(ctx context.Context) (storage.FeedState, error)
	ChangesCursor(project string, m storage.FeedState) string

	ListMembers(ctx context.Context, project string, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Member], error)
	GetMember(ctx context.Context, project, subject string) (ipam.Member, error)
	PutMember(ctx context.Context, project string, m ipam.Member, r usecase.Request) (usecase.Result[ipam.Member], error)
	DeleteMember(ctx context.Context, project, subject string, r usecase.Request) error

	ListKeys(ctx context.Context, project string, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.APIKey], error)
	CreateKey(ctx context.Context, project string, k ipam.APIKey, r usecase.Request) (usecase.Result[ipam.APIKey], error)
	GetKey(ctx context.Context, project, name string) (ipam.APIKey, error)
	DeleteKey(ctx context.Context, project, name string, r usecase.Request) error

	ListPoolGrants(ctx context.Context, project, pool string, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Grant], error)
	GetPoolGrant(ctx context.Context, project, pool, consumer string) (ipam.Grant, error)
	PutPoolGrant(ctx context.Context, project, pool, consumer string, r usecase.Request) (usecase.Result[ipam.Grant], error)
	DeletePoolGrant(ctx context.Context, project, pool, consumer string, r usecase.Request) error

	ListSpaceGrants(ctx context.Context, project, space string, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Grant], error)
	GetSpaceGrant(ctx context.Context, project, space, consumer string) (ipam.Grant, error)
	PutSpaceGrant(ctx context.Context, project, space, consumer string, r usecase.Request) (usecase.Result[ipam.Grant], error)
	DeleteSpaceGrant(ctx context.Context, project, space, consumer string, r usecase.Request) error

	ListQuotas(ctx context.Context, project string, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Quota], error)
	GetQuota(ctx context.Context, project, name string) (ipam.Quota, error)
	PutQuota(ctx context.Context, project string, q ipam.Quota, r usecase.Request) (usecase.Result[ipam.Quota], error)
	DeleteQuota(ctx context.Context, project, name string, r usecase.Request) error

	ListConsumers(ctx context.Context, project, realm string, f consumers.Filter, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Consumer], error)
	GetConsumer(ctx context.Context, project string, ref ipam.ConsumerRef) (ipam.Consumer, error)
	PutConsumer(ctx context.Context, project string, n ipam.NewConsumer, r usecase.Request) (usecase.Result[ipam.Consumer], error)
	// EndConsumer returns the number of claims that the consumer is still attached to.
	EndConsumer(ctx context.Context, project string, ref ipam.ConsumerRef, r usecase.Request) (remaining int64, err error)
	RenewConsumers(ctx context.Context, project string, w consumers.Renewals, r usecase.Request) (consumers.Renewed, error)
	ListClaimConsumers(ctx context.Context, project, claim string, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Attachment], error)
	AttachConsumer(ctx context.Context, project, claim string, n ipam.NewConsumer, r usecase.Request) (usecase.Result[ipam.Claim], error)
	DetachConsumer(ctx context.Context, project, claim string, ref ipam.ConsumerRef, r usecase.Request) error
	GetRealm(ctx context.Context, project, realm string) (ipam.Realm, error)
	ConfirmExpiry(ctx context.Context, project, realm string, r usecase.Request) (ipam.Realm, error)

	ListEvents(ctx context.Context, project string, f trail.EventFilter, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Event], error)
	// GetHistory returns an address's holders at a moment, or all holders if moment is zero.
	GetHistory(ctx context.Context, project string, address netip.Addr, moment time.Time, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Hold], error)

	ListAlertRules(ctx context.Context, project string, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.AlertRule], error)
	CreateAlertRule(ctx context.Context, project string, rule ipam.AlertRule, r usecase.Request) (usecase.Result[ipam.AlertRule], error)
	GetAlertRule(ctx context.Context, project, name string) (ipam.AlertRule, error)
	PatchAlertRule(ctx context.Context, project, name string, r usecase.Request, mutate func(ipam.AlertRule) (ipam.AlertRule, error)) (ipam.AlertRule, error)
	DeleteAlertRule(ctx context.Context, project, name string, r usecase.Request) error
	ListAlerts(ctx context.Context, project string, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Alert], error)

	ListWebhooks(ctx context.Context, project string, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Webhook], error)
	CreateWebhook(ctx context.Context, project string, w ipam.Webhook, r usecase.Request) (usecase.Result[ipam.Webhook], error)
	GetWebhook(ctx context.Context, project, name string) (ipam.Webhook, error)
	PatchWebhook(ctx context.Context, project, name string, r usecase.Request, mutate func(ipam.Webhook) (ipam.Webhook, error)) (ipam.Webhook, error)
	DeleteWebhook(ctx context.Context, project, name string, r usecase.Request) error
	// ListDeliveries lists the failed deliveries. DeleteDelivery deletes one, and RetryDelivery sends one again.
	ListDeliveries(ctx context.Context, project, webhook string, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Delivery], error)
	DeleteDelivery(ctx context.Context, project, webhook string, id ipam.ID, r usecase.Request) error
	RetryDelivery(ctx context.Context, project, webhook string, id ipam.ID, r usecase.Request) (ipam.Delivery, error)

	Whoami(ctx context.Context) (tenancy.Principal, error)
	// Search returns the first matches in the caller's projects, up to the limit.
	Search(ctx context.Context, asked search.Query, r usecase.Reading) (search.Found, error)
	// ListRegions returns the installation's regions, the primary one first, and this server's region.
	ListRegions(ctx context.Context) (all []ipam.Region, here string, err error)
	// Admit authorizes an action before the server reads the request body. If Admit refuses a change, it also records the refused attempt.
	Admit(ctx context.Context, action tenancy.Action, project string) error
}

var _ UseCases = (*alloc.Service)(nil)
