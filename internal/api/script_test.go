package api_test

import (
	"context"
	"math/big"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/allocations"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/pools"
	"github.com/carve-ipam/carve/internal/alloc/search"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/alloc/utilization"
	"github.com/carve-ipam/carve/internal/api"
	"github.com/carve-ipam/carve/internal/ipam"
)

// scripted implements use cases that record the requests and return the results that a test sets. The tests with it check how the adapter converts
// HTTP requests and results. Other tests check the use cases with a database.
type scripted struct {
	nobody
	claim    ipam.Claim
	pool     ipam.Pool
	replayed bool
	existed  bool

	project string
	request usecase.Request
	asked   ipam.Claim
	batch   []ipam.Claim
	filter  paging.Filter
	limit   int
	cursor  string
	bits    *int
	mapped  allocations.Map
	over    utilization.Query
	sought  string
	reads   int
}

func (s *scripted) CreateClaim(_ context.Context, project string, c ipam.Claim, r usecase.Request) (usecase.Result[ipam.Claim], error) {
	s.project, s.asked, s.request = project, c, r
	return usecase.Result[ipam.Claim]{Value: s.claim, Replayed: s.replayed}, nil
}

func (s *scripted) PutClaim(_ context.Context, project string, c ipam.Claim, r usecase.Request) (usecase.Result[ipam.Claim], error) {
	s.project, s.asked, s.request = project, c, r
	return usecase.Result[ipam.Claim]{Value: s.claim, Existed: s.existed}, nil
}

func (s *scripted) CreateClaimBatch(_ context.Context, project string, claims []ipam.Claim, r usecase.Request) (usecase.Result[[]ipam.Claim], error) {
	s.project, s.batch, s.request = project, claims, r
	return usecase.Result[[]ipam.Claim]{Value: []ipam.Claim{s.claim, s.claim}, Replayed: s.replayed}, nil
}

func (s *scripted) GetPool(context.Context, string, string, usecase.Reading) (ipam.Pool, error) {
	s.reads++
	return s.pool, nil
}

func (s *scripted) PatchPool(_ context.Context, _, _ string, r usecase.Request, mutate func(ipam.Pool) (ipam.Pool, error)) (ipam.Pool, error) {
	s.request = r
	was := s.pool
	was.Stock = ipam.Stock{} // the use case passes a pool without its free blocks
	next, err := mutate(was)
	next.Stock = s.pool.Stock
	return next, err
}

func (s *scripted) DeletePool(_ context.Context, _, _ string, r usecase.Request) error {
	s.request = r
	return r.IfMatch.Check(s.pool.Revision)
}

func (s *scripted) ListPools(_ context.Context, project string, f paging.Filter, limit int, cursor string, _ usecase.Reading) (paging.Page[ipam.Pool], error) {
	s.project, s.filter, s.limit, s.cursor = project, f, limit, cursor
	return paging.Page[ipam.Pool]{Items: []ipam.Pool{s.pool}, Next: "bmV4dA"}, nil
}

func (s *scripted) ListAllocations(_ context.Context, project string, f paging.Filter, limit int, cursor string, _ usecase.Reading) (paging.Page[ipam.Allocation], error) {
	s.project, s.filter, s.limit, s.cursor = project, f, limit, cursor
	return paging.Page[ipam.Allocation]{Items: []ipam.Allocation{}}, nil
}

func (s *scripted) ListClaims(_ context.Context, project string, f paging.Filter, limit int, cursor string, _ usecase.Reading) (paging.Page[ipam.Claim], error) {
	s.project, s.filter, s.limit, s.cursor = project, f, limit, cursor
	return paging.Page[ipam.Claim]{Items: []ipam.Claim{s.claim}}, nil
}

func (s *scripted) GetPoolMap(_ context.Context, _, _ string, within netip.Prefix, depth int, _ usecase.Reading) (allocations.Map, error) {
	s.mapped = allocations.Map{Within: within, Bits: depth}
	return allocations.Map{Within: s.pool.Block, Bits: 17, Runs: []allocations.Run{{Count: 2}}}, nil
}

func (s *scripted) GetPoolUtilization(_ context.Context, _, _ string, a utilization.Query, _ usecase.Reading) (utilization.History, error) {
	s.over = a
	at := time.Date(2026, 3, 2, 11, 0, 0, 0, time.UTC)
	return utilization.History{
		Size:   big.NewInt(256),
		Points: []utilization.Point{{At: at, Used: big.NewInt(64), Highest: big.NewInt(65)}},
		Runway: &utilization.Runway{RunsOutAt: at.Add(time.Hour), PercentPerDay: 12.345, Over: 24 * time.Hour},
	}, nil
}

func (s *scripted) Search(_ context.Context, asked search.Query, _ usecase.Reading) (search.Found, error) {
	s.sought, s.limit = asked.Text, asked.Limit
	return search.Found{Items: []search.Item{{Kind: trail.KindProject, Name: "team-a", Why: search.ReasonName}}}, nil
}

func (s *scripted) GetPoolFree(_ context.Context, _, _ string, bits *int, limit int, _ string, _ usecase.Reading) (pools.FreePage, error) {
	s.bits, s.limit = bits, limit
	return pools.FreePage{Pool: s.pool, Blocks: []netip.Prefix{s.pool.Block}}, nil
}

func script() *scripted {
	at := time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC)
	meta := func(name string) ipam.Metadata {
		return ipam.Metadata{
			Name: name, UID: ipam.NewID(), Project: "team-a", Region: "local", Generation: 1, Revision: ipam.NewID(),
			CreatedAt: at, UpdatedAt: at, CreatedBy: "dev",
		}
	}
	block, ref := netip.MustParsePrefix("10.20.0.0/16"), ipam.Ref{Project: "team-a", Name: "p"}
	return &scripted{
		pool: ipam.Pool{
			Metadata: meta("p"), Block: block, Space: ipam.Ref{Project: "team-a", Name: "default"},
			Spec:  ipam.PoolSpec{CIDR: block, Visibility: ipam.VisibilityConsumer, Allocation: ipam.Allocating{Strategy: ipam.BestFit}},
			Stock: ipam.Stock{Free: map[int]int64{16: 1}},
		},
		claim: ipam.Claim{
			Metadata: meta("c"), Block: netip.MustParsePrefix("10.20.0.1/32"), Pool: ref, AllocationID: ipam.NewID(),
			Spec: ipam.ClaimSpec{PoolRef: ref}, ReclaimPolicy: ipam.ReclaimDelete,
		},
	}
}

func send(t *testing.T, s *scripted, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	return serve(t, api.Config{Service: s}).do(t, method, target, body, headers...)
}

func tagOf(m ipam.Metadata) string { return `"` + m.Revision.String() + `"` }
