package api_test

import (
	"context"
	"math/big"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func TestPutQuota(t *testing.T) {
	t.Parallel()
	all, ok := new(big.Int).SetString("340282366920938463463374607431768211456", 10)
	require.True(t, ok)
	for promise, c := range map[string]struct {
		spec string
		want ipam.QuotaSpec
	}{
		"OfOneMeasure": {`{"limits": {"pools": 0}}`, ipam.QuotaSpec{Limits: ipam.QuotaLimits{Pools: new(int64(0))}}},
		"OfEverything": {
			`{"limits": {"addresses": "340282366920938463463374607431768211456", "claims": 9007199254740991, "pools": 10}, "description": "d"}`,
			ipam.QuotaSpec{Limits: ipam.QuotaLimits{Addresses: all, Claims: new(int64(9007199254740991)), Pools: new(int64(10))}, Description: "d"},
		},
		"OfNoAddresses": {`{"limits": {"addresses": "0"}}`, ipam.QuotaSpec{Limits: ipam.QuotaLimits{Addresses: new(big.Int)}}},
		"OfAFamily": {
			`{"scope": {"ipFamily": "IPv6"}, "limits": {"claims": 1}}`,
			ipam.QuotaSpec{Scope: ipam.QuotaScope{Family: ipam.IPv6}, Limits: ipam.QuotaLimits{Claims: new(int64(1))}},
		},
		"OfAPoolOfItsOwn": {
			`{"scope": {"poolRef": {"name": "p"}}, "limits": {"claims": 1}}`,
			ipam.QuotaSpec{Scope: ipam.QuotaScope{Pool: ipam.Ref{Project: "team-a", Name: "p"}}, Limits: ipam.QuotaLimits{Claims: new(int64(1))}},
		},
		"OfAPoolOfAnother": {
			`{"scope": {"poolRef": {"project": "platform", "name": "p"}}, "limits": {"claims": 1}}`,
			ipam.QuotaSpec{Scope: ipam.QuotaScope{Pool: ipam.Ref{Project: "platform", Name: "p"}}, Limits: ipam.QuotaLimits{Claims: new(int64(1))}},
		},
		"OfAClassOfItsOwn": {
			`{"scope": {"classRef": {"name": "gold"}}, "limits": {"claims": 1}}`,
			ipam.QuotaSpec{Scope: ipam.QuotaScope{Class: ipam.Ref{Project: "team-a", Name: "gold"}}, Limits: ipam.QuotaLimits{Claims: new(int64(1))}},
		},
		"OfAClassOfThePlatform": {
			`{"scope": {"classRef": {"project": "platform", "name": "standard"}, "ipFamily": "IPv4"}, "limits": {"addresses": "64"}}`,
			ipam.QuotaSpec{
				Scope:  ipam.QuotaScope{Class: ipam.Ref{Project: "platform", Name: "standard"}, Family: ipam.IPv4},
				Limits: ipam.QuotaLimits{Addresses: big.NewInt(64)},
			},
		},
		"OfAnEmptyScope": {`{"scope": {}, "limits": {"claims": 1}}`, ipam.QuotaSpec{Limits: ipam.QuotaLimits{Claims: new(int64(1))}}},
	} {
		t.Run(promise, func(t *testing.T) {
			t.Parallel()
			s := scriptAccess()
			w := s.server(t).do(t, "PUT", quotas+"/q", `{"spec": `+c.spec+`}`)
			require.Equal(t, http.StatusCreated, w.Code, w.Body.String())
			require.Equal(t, "q", s.askedQ.Name)
			limits, want := s.askedQ.Spec.Limits, c.want.Limits
			require.Equal(t, want.Addresses == nil, limits.Addresses == nil)
			if want.Addresses != nil {
				require.Zero(t, want.Addresses.Cmp(limits.Addresses), limits.Addresses)
			}
			s.askedQ.Spec.Limits.Addresses, c.want.Limits.Addresses = nil, nil
			require.Equal(t, c.want, s.askedQ.Spec)
		})
	}
}

func TestQuotasShowTheAvailableRest(t *testing.T) {
	t.Parallel()
	s := scriptAccess()
	w := s.server(t).do(t, "GET", quotas+"/all", "")
	got := decode[gen.Quota](t, w)
	require.Equal(t, gen.QuotaUsed{Addresses: "1536", Claims: 37, Pools: 2}, got.Status.Used)
	require.Equal(t, gen.QuotaAvailable{Addresses: "2560", Claims: new(int64(463))}, got.Status.Available)
	require.Equal(t, gen.QuotaOwnerPlatform, got.Status.Owner)
	require.Equal(t, tagOf(s.quota.Metadata), w.Header().Get("ETag"))
}

// refusing implements use cases that refuse every claim.
type refusing struct {
	nobody
	err error
}

func (r refusing) CreateClaim(context.Context, string, ipam.Claim, usecase.Request) (usecase.Result[ipam.Claim], error) {
	return usecase.Result[ipam.Claim]{}, r.err
}

func TestQuotaRefusalHasLimitUsedAndRequested(t *testing.T) {
	t.Parallel()
	e := ipam.Errorf(ipam.CodeQuotaExceeded, "Quota team-a/all allows 4096 addresses: 4000 are used, 256 more were asked for.")
	e.Figures = ipam.Figures{Quota: "team-a/all", Measure: "addresses", Limit: "4096", Used: "4000", Requested: "256"}
	w := serve(t, api.Config{Service: refusing{err: e}}).do(t, "POST", claimsPath, `{"metadata": {"name": "c"}, "spec": {"poolRef": {"name": "p"}}}`)
	p := problem(t, w, http.StatusConflict, gen.ProblemCodeQuotaExceeded)
	require.Equal(t, "team-a/all", p.Quota)
	require.Equal(t, gen.QuotaMeasureAddresses, p.Measure)
	require.Equal(t, []string{"4096", "4000", "256"}, []string{p.Limit, p.Used, p.Requested})
}
