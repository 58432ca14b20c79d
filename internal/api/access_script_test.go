package api_test

import (
	"context"
	"math/big"
	"net/netip"
	"testing"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

const (
	members = "/v1/projects/team-a/members"
	keys    = "/v1/projects/team-a/api-keys"
	quotas  = "/v1/projects/team-a/quotas"
	events  = "/v1/projects/team-a/audit-events"
	history = "/v1/projects/team-a/history"
)

// accessScript implements the use cases of members, keys, grants, quotas and the audit trail. It records the requests and returns the results that a
// test sets.
type accessScript struct {
	nobody
	on      *service
	member  ipam.Member
	key     ipam.APIKey
	grant   ipam.Grant
	quota   ipam.Quota
	events  []ipam.Event
	holds   []ipam.Hold
	who     tenancy.Principal
	existed bool
	repeat  bool
	fail    error

	calls   []string // for each call: the operation, then the names of the resource
	request usecase.Request
	askedM  ipam.Member
	askedK  ipam.APIKey
	askedQ  ipam.Quota
	filter  trail.EventFilter
	address netip.Addr
	at      time.Time
	limit   int
	cursor  string
}

func scriptAccess() *accessScript {
	at := time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC)
	meta := func(name string) ipam.Metadata {
		return ipam.Metadata{
			Name: name, UID: ipam.NewID(), Project: "team-a", Generation: 1, Revision: ipam.NewID(),
			CreatedAt: at, UpdatedAt: at, CreatedBy: "corp:root@example.com",
		}
	}
	return &accessScript{
		member: ipam.Member{Metadata: meta("corp:alice@example.com"), Spec: ipam.MemberSpec{Role: "consumer"}},
		key:    ipam.APIKey{Metadata: meta("pipeline"), Spec: ipam.APIKeySpec{Role: "provider"}},
		grant:  ipam.Grant{Metadata: meta("team-b")},
		quota: ipam.Quota{
			Metadata: meta("all"), Spec: ipam.QuotaSpec{Limits: ipam.QuotaLimits{Addresses: big.NewInt(4096), Claims: new(int64(500))}},
			Owner: ipam.QuotaOfPlatform, Used: ipam.Usage{Addresses: big.NewInt(1536), Claims: 37, Pools: 2},
		},
		who: tenancy.Principal{Subject: "corp:alice@example.com", Method: "oidc", Roles: map[string]tenancy.Role{
			"team-b": tenancy.Viewer, "team-a": tenancy.Consumer,
		}},
	}
}

// server returns one server for all requests of a test.
func (s *accessScript) server(t *testing.T) service {
	t.Helper()
	if s.on == nil {
		s.on = new(serve(t, api.Config{Service: s}))
	}
	return *s.on
}

func (s *accessScript) note(op string, names ...string) error {
	s.calls = append([]string{op}, names...)
	return s.fail
}

func (s *accessScript) paged(limit int, cursor string) { s.limit, s.cursor = limit, cursor }

func (s *accessScript) ListMembers(_ context.Context, project string, limit int, cursor string, _ usecase.Reading) (paging.Page[ipam.Member], error) {
	s.paged(limit, cursor)
	return paging.Page[ipam.Member]{Items: []ipam.Member{s.member}, Next: "bmV4dA"}, s.note("ListMembers", project)
}

func (s *accessScript) GetMember(_ context.Context, project, subject string) (ipam.Member, error) {
	m := s.member
	m.Name = subject
	return m, s.note("GetMember", project, subject)
}

func (s *accessScript) PutMember(_ context.Context, project string, m ipam.Member, r usecase.Request) (usecase.Result[ipam.Member], error) {
	s.askedM, s.request = m, r
	made := s.member
	made.Name, made.Spec = m.Name, m.Spec
	return usecase.Result[ipam.Member]{Value: made, Existed: s.existed}, s.note("PutMember", project, m.Name)
}

func (s *accessScript) DeleteMember(_ context.Context, project, subject string, r usecase.Request) error {
	s.request = r
	return s.note("DeleteMember", project, subject)
}

func (s *accessScript) ListKeys(_ context.Context, project string, limit int, cursor string, _ usecase.Reading) (paging.Page[ipam.APIKey], error) {
	s.paged(limit, cursor)
	return paging.Page[ipam.APIKey]{Items: []ipam.APIKey{s.key}, Next: "bmV4dA"}, s.note("ListKeys", project)
}

func (s *accessScript) GetKey(_ context.Context, project, name string) (ipam.APIKey, error) {
	return s.key, s.note("GetKey", project, name)
}

func (s *accessScript) CreateKey(_ context.Context, project string, k ipam.APIKey, r usecase.Request) (usecase.Result[ipam.APIKey], error) {
	s.askedK, s.request = k, r
	return usecase.Result[ipam.APIKey]{Value: s.key, Replayed: s.repeat}, s.note("CreateKey", project)
}

func (s *accessScript) DeleteKey(_ context.Context, project, name string, r usecase.Request) error {
	s.request = r
	return s.note("DeleteKey", project, name)
}

func (s *accessScript) ListPoolGrants(_ context.Context, project, pool string, limit int, cursor string, _ usecase.Reading) (paging.Page[ipam.Grant], error) {
	s.paged(limit, cursor)
	return paging.Page[ipam.Grant]{Items: []ipam.Grant{s.grant}, Next: "bmV4dA"}, s.note("ListPoolGrants", project, pool)
}

func (s *accessScript) GetPoolGrant(_ context.Context, project, pool, consumer string) (ipam.Grant, error) {
	return s.grantTo(consumer), s.note("GetPoolGrant", project, pool, consumer)
}

func (s *accessScript) PutPoolGrant(_ context.Context, project, pool, consumer string, r usecase.Request) (usecase.Result[ipam.Grant], error) {
	s.request = r
	return usecase.Result[ipam.Grant]{Value: s.grantTo(consumer), Existed: s.existed}, s.note("PutPoolGrant", project, pool, consumer)
}

func (s *accessScript) DeletePoolGrant(_ context.Context, project, pool, consumer string, r usecase.Request) error {
	s.request = r
	return s.note("DeletePoolGrant", project, pool, consumer)
}

func (s *accessScript) ListSpaceGrants(_ context.Context, project, space string, limit int, cursor string, _ usecase.Reading) (paging.Page[ipam.Grant], error) {
	s.paged(limit, cursor)
	return paging.Page[ipam.Grant]{Items: []ipam.Grant{s.grant}, Next: "bmV4dA"}, s.note("ListSpaceGrants", project, space)
}

func (s *accessScript) GetSpaceGrant(_ context.Context, project, space, consumer string) (ipam.Grant, error) {
	return s.grantTo(consumer), s.note("GetSpaceGrant", project, space, consumer)
}

func (s *accessScript) PutSpaceGrant(_ context.Context, project, space, consumer string, r usecase.Request) (usecase.Result[ipam.Grant], error) {
	s.request = r
	return usecase.Result[ipam.Grant]{Value: s.grantTo(consumer), Existed: s.existed}, s.note("PutSpaceGrant", project, space, consumer)
}

func (s *accessScript) DeleteSpaceGrant(_ context.Context, project, space, consumer string, r usecase.Request) error {
	s.request = r
	return s.note("DeleteSpaceGrant", project, space, consumer)
}

func (s *accessScript) grantTo(consumer string) ipam.Grant {
	g := s.grant
	g.Name = consumer
	return g
}

func (s *accessScript) ListQuotas(_ context.Context, project string, limit int, cursor string, _ usecase.Reading) (paging.Page[ipam.Quota], error) {
	s.paged(limit, cursor)
	return paging.Page[ipam.Quota]{Items: []ipam.Quota{s.quota}, Next: "bmV4dA"}, s.note("ListQuotas", project)
}

func (s *accessScript) GetQuota(_ context.Context, project, name string) (ipam.Quota, error) {
	return s.quota, s.note("GetQuota", project, name)
}

func (s *accessScript) PutQuota(_ context.Context, project string, q ipam.Quota, r usecase.Request) (usecase.Result[ipam.Quota], error) {
	s.askedQ, s.request = q, r
	return usecase.Result[ipam.Quota]{Value: s.quota, Existed: s.existed}, s.note("PutQuota", project, q.Name)
}

func (s *accessScript) DeleteQuota(_ context.Context, project, name string, r usecase.Request) error {
	s.request = r
	return s.note("DeleteQuota", project, name)
}

func (s *accessScript) ListEvents(_ context.Context, project string, f trail.EventFilter, limit int, cursor string, _ usecase.Reading) (paging.Page[ipam.Event], error) {
	s.filter = f
	s.paged(limit, cursor)
	return paging.Page[ipam.Event]{Items: s.events, Next: "bmV4dA"}, s.note("ListEvents", project)
}

func (s *accessScript) GetHistory(_ context.Context, project string, address netip.Addr, at time.Time, limit int, cursor string, _ usecase.Reading) (paging.Page[ipam.Hold], error) {
	s.address, s.at = address, at
	s.paged(limit, cursor)
	return paging.Page[ipam.Hold]{Items: s.holds, Next: "bmV4dA"}, s.note("GetHistory", project)
}

func (s *accessScript) Whoami(context.Context) (tenancy.Principal, error) {
	return s.who, s.note("Whoami")
}
