package api_test

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/claims"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api"
	"github.com/carve-ipam/carve/internal/ipam"
)

const (
	classes      = "/v1/projects/team-a/classes"
	explanations = "/v1/projects/team-a/claim-explanations"
)

// classScript implements the use cases of classes and explanations. It records the requests and returns the results that a test sets.
type classScript struct {
	nobody
	on          *service
	class       ipam.Class
	explanation claims.Explanation
	replayed    bool
	fail        error

	calls   []string // for each call: the operation, then the names of the resource
	request usecase.Request
	move    bool
	asked   ipam.Class
	claim   ipam.Claim
	filter  paging.Filter
	limit   int
	cursor  string
}

func scriptClass() *classScript {
	at := time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC)
	return &classScript{
		class: ipam.Class{
			Metadata: ipam.Metadata{
				Name: "gold", UID: ipam.NewID(), Project: "team-a", Generation: 1, Revision: ipam.NewID(),
				CreatedAt: at, UpdatedAt: at, CreatedBy: "dev", Labels: map[string]string{"tier": "gold"},
			},
			Spec:   ipam.ClassSpec{Family: ipam.IPv4, MinPrefixLength: new(22), ReuseAfter: new(72 * time.Hour)}.WithDefaults(),
			Status: ipam.ClassStatus{BackingPools: 1, Total: "65536", Available: "32768", LargestFree: new(22)},
		},
		explanation: claims.Explanation{Refusal: ipam.Errorf(ipam.CodeNoDefaultClass, "There is no default class of IPv4.")},
	}
}

// server returns one server for all requests of a test.
func (s *classScript) server(t *testing.T) service {
	t.Helper()
	if s.on == nil {
		s.on = new(serve(t, api.Config{Service: s}))
	}
	return *s.on
}

func (s *classScript) note(op string, names ...string) error {
	s.calls = append(s.calls, append([]string{op}, names...)...)
	return s.fail
}

func (s *classScript) ListClasses(_ context.Context, project string, f paging.Filter, limit int, cursor string, _ usecase.Reading) (paging.Page[ipam.Class], error) {
	s.filter, s.limit, s.cursor = f, limit, cursor
	shared := s.class
	shared.Project, shared.Status = ipam.PlatformProject, ipam.ClassStatus{Total: "0", Available: "0"}
	return paging.Page[ipam.Class]{Items: []ipam.Class{s.class, shared}, Next: "bmV4dA"}, s.note("ListClasses", project)
}

func (s *classScript) CreateClass(_ context.Context, project string, c ipam.Class, moveDefault bool, r usecase.Request) (usecase.Result[ipam.Class], error) {
	s.asked, s.move, s.request = c, moveDefault, r
	made := s.class
	made.Spec, made.Status = c.Spec, ipam.ClassStatus{Total: "0", Available: "0"}
	return usecase.Result[ipam.Class]{Value: made, Replayed: s.replayed}, s.note("CreateClass", project)
}

func (s *classScript) GetClass(_ context.Context, project, name string, _ usecase.Reading) (ipam.Class, error) {
	return s.class, s.note("GetClass", project, name)
}

func (s *classScript) PatchClass(
	_ context.Context, project, name string, moveDefault bool, r usecase.Request, mutate func(ipam.Class) (ipam.Class, error),
) (ipam.Class, error) {
	s.move, s.request = moveDefault, r
	if err := s.note("PatchClass", project, name); err != nil {
		return ipam.Class{}, err
	}
	was := s.class
	was.Status = ipam.ClassStatus{} // the use case passes a class without status
	next, err := mutate(was)
	next.Status = s.class.Status
	return next, err
}

func (s *classScript) DeleteClass(_ context.Context, project, name string, r usecase.Request) error {
	s.request = r
	return s.note("DeleteClass", project, name)
}

func (s *classScript) PutScopePool(_ context.Context, project, class string, scope map[string]string, r usecase.Request) (usecase.Result[ipam.Pool], error) {
	s.request = r
	return usecase.Result[ipam.Pool]{Value: s.scopePool(scope)}, s.note("PutScopePool", project, class)
}

func (s *classScript) GetScopePool(_ context.Context, project, class string, scope map[string]string) (ipam.Pool, error) {
	return s.scopePool(scope), s.note("GetScopePool", project, class)
}

func (s *classScript) ListScopePools(_ context.Context, project, class string, _ int, _ string, _ usecase.Reading) (paging.Page[ipam.Pool], error) {
	return paging.Page[ipam.Pool]{Items: []ipam.Pool{s.scopePool(nil)}}, s.note("ListScopePools", project, class)
}

// scopePool returns the pool of a scope.
func (s *classScript) scopePool(scope map[string]string) ipam.Pool {
	meta, bits := s.class.Metadata, 26
	meta.Name, meta.Project = "gold-1", ipam.PlatformProject
	return ipam.Pool{
		Metadata: meta, Block: netip.MustParsePrefix("10.0.0.0/26"), Space: ipam.Ref{Project: ipam.PlatformProject, Name: "default"},
		Spec:  ipam.PoolSpec{PrefixLength: &bits, Visibility: ipam.VisibilityConsumer, Allocation: ipam.Allocating{Strategy: ipam.BestFit}},
		Scope: &ipam.PoolScope{Class: s.class.AsRef(), Project: "team-a", Values: scope},
	}
}

func (s *classScript) ExplainClaim(_ context.Context, project string, c ipam.Claim) (claims.Explanation, error) {
	s.claim = c
	return s.explanation, s.note("ExplainClaim", project)
}
