package api_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// readings implements use cases that return the time of a stale read. It records which reads may be stale.
type readings struct {
	*scripted
	at    time.Time
	fail  error
	stale []bool
}

func (s *readings) read(r usecase.Reading) error {
	s.stale = append(s.stale, r.Behind != nil)
	if r.Behind != nil && !s.at.IsZero() {
		r.Behind.Note(s.at)
	}
	return s.fail
}

func (s *readings) GetPool(_ context.Context, _, _ string, r usecase.Reading) (ipam.Pool, error) {
	return s.pool, s.read(r)
}

func (s *readings) GetClaim(_ context.Context, _, _ string, r usecase.Reading) (ipam.Claim, error) {
	return s.claim, s.read(r)
}

func (s *readings) ListClaims(_ context.Context, _ string, _ paging.Filter, _ int, _ string, r usecase.Reading) (paging.Page[ipam.Claim], error) {
	return paging.Page[ipam.Claim]{Items: []ipam.Claim{s.claim}}, s.read(r)
}

func (s *readings) ListPools(_ context.Context, _ string, _ paging.Filter, _ int, _ string, r usecase.Reading) (paging.Page[ipam.Pool], error) {
	return paging.Page[ipam.Pool]{Items: []ipam.Pool{s.pool}}, s.read(r)
}

func TestConsistencyOfReads(t *testing.T) {
	t.Parallel()
	const moment = "2026-03-02T09:30:00.123456Z"
	at := time.Date(2026, 3, 2, 10, 30, 0, 123456789, time.FixedZone("", 3600))
	targets := []string{poolsPath, poolsPath + "/p", claimsPath, claimsPath + "/c"}
	ask := func(t *testing.T, s *readings, target string) http.Header {
		t.Helper()
		w := serve(t, api.Config{Service: s}).do(t, "GET", target, "")
		require.Equal(t, http.StatusOK, w.Code, w.Body.String())
		return w.Header()
	}

	t.Run("IsStrongByDefault", func(t *testing.T) {
		t.Parallel()
		for _, target := range targets {
			for _, query := range []string{"", "?consistency=strong"} {
				s := &readings{scripted: script(), at: at}
				h := ask(t, s, target+query)
				require.Equal(t, []bool{false}, s.stale, target)
				require.NotContains(t, h, "Carve-Consistency")
				require.NotContains(t, h, "Carve-Read-At")
			}
		}
	})
	t.Run("IsStaleOnRequestAndReportsItsTime", func(t *testing.T) {
		t.Parallel()
		for _, target := range targets {
			s := &readings{scripted: script(), at: at}
			h := ask(t, s, target+"?consistency=stale")
			require.Equal(t, []bool{true}, s.stale, target)
			require.Equal(t, []string{"stale"}, h["Carve-Consistency"])
			require.Equal(t, []string{moment}, h["Carve-Read-At"], "not later than it was")
		}
	})
	t.Run("ReportsNoTimeWithoutARead", func(t *testing.T) {
		t.Parallel()
		h := ask(t, &readings{scripted: script()}, poolsPath+"?consistency=stale")
		require.Equal(t, []string{"stale"}, h["Carve-Consistency"])
		require.NotContains(t, h, "Carve-Read-At")
	})
	t.Run("IsReportedForMissingResources", func(t *testing.T) {
		t.Parallel()
		s := &readings{scripted: script(), at: at, fail: ipam.Errorf(ipam.CodeNotFound, "Pool team-a/p was not found.")}
		w := serve(t, api.Config{Service: s}).do(t, "GET", poolsPath+"/p?consistency=stale", "")
		problem(t, w, http.StatusNotFound, gen.ProblemCodeNotFound)
		require.Equal(t, []string{"stale"}, w.Header()["Carve-Consistency"])
		require.Equal(t, []string{moment}, w.Header()["Carve-Read-At"])
	})
	t.Run("IsNotCarriedToTheNextResponse", func(t *testing.T) {
		t.Parallel()
		s := &readings{scripted: script(), at: at}
		server := serve(t, api.Config{Service: s})
		for range 3 {
			require.Contains(t, server.do(t, "GET", poolsPath+"/p?consistency=stale", "").Header(), "Carve-Read-At")
			require.NotContains(t, server.do(t, "GET", poolsPath+"/p", "").Header(), "Carve-Read-At")
		}
	})
}
