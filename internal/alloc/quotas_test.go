package alloc_test

import (
	"fmt"
	"math/big"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

type quotaOption func(*ipam.QuotaSpec)

func maxClaims(n int64) quotaOption { return func(s *ipam.QuotaSpec) { s.Limits.Claims = &n } }
func maxPools(n int64) quotaOption  { return func(s *ipam.QuotaSpec) { s.Limits.Pools = &n } }
func maxAddresses(n int64) quotaOption {
	return func(s *ipam.QuotaSpec) { s.Limits.Addresses = big.NewInt(n) }
}

func quota(name string, options ...quotaOption) ipam.Quota {
	q := ipam.Quota{Metadata: meta(name)}
	for _, o := range options {
		o(&q.Spec)
	}
	return q
}

func ofPool(p ipam.Ref) quotaOption      { return func(s *ipam.QuotaSpec) { s.Scope.Pool = p } }
func ofFamily(f ipam.Family) quotaOption { return func(s *ipam.QuotaSpec) { s.Scope.Family = f } }
func described(text string) quotaOption  { return func(s *ipam.QuotaSpec) { s.Description = text } }

// figures returns the addresses, claims and pools of a usage.
func figures(u ipam.Usage) [3]string {
	return [3]string{ipam.Usage{}.Add(u).Addresses.String(), fmt.Sprint(u.Claims), fmt.Sprint(u.Pools)}
}

// set creates or changes a quota.
func (b *bundle) set(t testing.TB, q ipam.Quota) ipam.Quota {
	t.Helper()
	r, err := b.PutQuota(b.ctx, project, q, usecase.Request{})
	require.NoError(t, err)
	return r.Value
}

// usage returns the addresses, claims and pools in a quota's status.
func (b *bundle) usage(t testing.TB, name string) [3]string {
	t.Helper()
	q, err := b.GetQuota(b.ctx, project, name)
	require.NoError(t, err)
	return figures(q.Used)
}

func TestNewQuotaCountsExistingUsage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("four", "10.0.0.0/16"))
	b.pool(t, child("sub", "four", 20))
	b.pool(t, root("six", "2001:db8::/32"))
	b.claim(t, claim("a", "four", 24))
	b.claim(t, claim("b", "sub", 30))
	b.claim(t, claim("c", "six", 64))
	b.claim(t, claim("kept", "sub", 32, retain))
	b.release(t, "kept")
	huge := new(big.Int).Lsh(big.NewInt(1), 64)
	for _, c := range []struct {
		name  string
		scope []quotaOption
		want  [3]string
	}{
		{"all", nil, [3]string{new(big.Int).Add(huge, big.NewInt(256+4+1)).String(), "3", "3"}},
		{"four", []quotaOption{ofFamily(ipam.IPv4)}, [3]string{"261", "2", "2"}},
		{"six", []quotaOption{ofFamily(ipam.IPv6)}, [3]string{huge.String(), "1", "1"}},
		{"in-four", []quotaOption{ofPool(ref("four"))}, [3]string{"256", "1", "1"}},
		{"in-sub", []quotaOption{ofPool(ref("sub"))}, [3]string{"5", "1", "0"}},
		{"in-sub-six", []quotaOption{ofPool(ref("sub")), ofFamily(ipam.IPv6)}, [3]string{"0", "0", "0"}},
		{"in-none", []quotaOption{ofPool(ipam.Ref{Project: "nobody", Name: "knows"})}, [3]string{"0", "0", "0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			made, err := b.PutQuota(b.ctx, project, quota(c.name, append(c.scope, maxClaims(100))...), usecase.Request{})
			require.NoError(t, err)
			require.False(t, made.Existed)
			require.Equal(t, c.want, figures(made.Value.Used))
			require.Equal(t, c.want, b.usage(t, c.name))
			read, err := b.GetQuota(b.ctx, project, c.name)
			require.NoError(t, err)
			require.Equal(t, made.Value.Metadata, read.Metadata)
			require.Equal(t, made.Value.Spec, read.Spec)
		})
	}
	b.release(t, "a")
	b.release(t, "c")
	require.NoError(t, b.DeletePool(b.ctx, project, "six", usecase.Request{}))
	require.Equal(t, [3]string{"5", "1", "2"}, b.usage(t, "all"))
	require.Equal(t, [3]string{"0", "0", "0"}, b.usage(t, "six"))
	require.Equal(t, [3]string{"0", "0", "1"}, b.usage(t, "in-four"))
}

// A quota on a missing pool or class would limit nothing. So the server refuses a name that does not exist in the caller's own project.
func TestQuotaOfAMissingPoolOrClassIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("prod", "10.0.0.0/16"))
	b.class(t, project, class("std"))
	before := b.dump(t)
	for _, c := range []struct {
		scope   quotaOption
		pointer string
	}{
		{ofPool(ref("prdo")), "/spec/scope/poolRef/name"},
		{ofClass(ref("sdt")), "/spec/scope/classRef/name"},
	} {
		for _, r := range []usecase.Request{{}, dry} {
			_, err := b.PutQuota(b.ctx, project, quota("typo", maxClaims(1), c.scope), r)
			require.Equal(t, c.pointer, refused(t, err, ipam.CodeNotFound).Fields[0].Pointer)
		}
	}
	require.Equal(t, before, b.dump(t))
	elsewhere := ipam.Ref{Project: "nobody", Name: "knows"}
	b.set(t, quota("their-pool", maxClaims(1), ofPool(elsewhere)))
	b.set(t, quota("their-class", maxClaims(1), ofClass(elsewhere)))
	b.set(t, quota("pool", maxClaims(1), ofPool(ref("prod"))))
	b.set(t, quota("class", maxClaims(1), ofClass(ref("std"))))
	require.NoError(t, b.DeletePool(b.ctx, project, "prod", usecase.Request{}))
	require.NoError(t, b.DeleteClass(b.ctx, project, "std", usecase.Request{}))
	b.set(t, quota("pool", maxClaims(2), ofPool(ref("prod"))))
	b.set(t, quota("class", maxClaims(2), ofClass(ref("std"))))
}

func TestQuotaLimitsPools(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	b.set(t, quota("few", maxPools(3)))
	b.set(t, quota("below-net", maxPools(1), ofPool(ref("net"))))
	b.pool(t, child("one", "net", 24))
	before := b.dump(t)
	_, err := b.CreatePool(b.ctx, project, child("two", "net", 24), usecase.Request{})
	e := refused(t, err, ipam.CodeQuotaExceeded)
	require.Equal(t, []string{"acme/below-net", "pools", "1", "1", "1"},
		[]string{e.Figures.Quota, e.Figures.Measure, e.Figures.Limit, e.Figures.Used, e.Figures.Requested})
	require.Equal(t, before, b.dump(t))
	b.pool(t, root("three", "10.1.0.0/16"))
	_, err = b.CreatePool(b.ctx, project, root("four", "10.2.0.0/16"), usecase.Request{})
	require.Equal(t, "acme/few", refused(t, err, ipam.CodeQuotaExceeded).Figures.Quota)
	require.NoError(t, b.DeletePool(b.ctx, project, "one", usecase.Request{}))
	b.pool(t, child("two", "net", 24))
	require.Equal(t, [3]string{"0", "0", "3"}, b.usage(t, "few"))
	require.Equal(t, [3]string{"0", "0", "1"}, b.usage(t, "below-net"))
	require.NoError(t, b.DeleteQuota(b.ctx, project, "below-net", usecase.Request{}))
	require.NoError(t, b.DeleteQuota(b.ctx, project, "few", usecase.Request{}))
	b.pool(t, child("five", "net", 24))
}

func TestPutReplacesAQuota(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	b.pool(t, child("one", "net", 24))
	made := b.set(t, quota("q", maxPools(10), maxAddresses(1000), described("first")))
	before := b.dump(t)
	again, err := b.PutQuota(b.ctx, project, quota("q", maxPools(10), maxAddresses(1000), described("first")), usecase.Request{})
	require.NoError(t, err)
	require.True(t, again.Existed)
	require.Equal(t, made.Revision, again.Value.Revision)
	require.Equal(t, before, b.dump(t), "the spec that it has: nothing is written")

	b.clock.move(time.Minute)
	renamed, err := b.PutQuota(b.ctx, project, quota("q", maxPools(10), maxAddresses(1000), described("second")), ifMatch(made.Revision))
	require.NoError(t, err)
	require.True(t, renamed.Existed)
	require.Equal(t, before["quota_shards"], b.dump(t)["quota_shards"], "the description alone moves no figures")
	require.Equal(t, []any{made.UID, int64(2), b.clock.read()}, []any{renamed.Value.UID, renamed.Value.Generation, renamed.Value.UpdatedAt})
	_, err = b.PutQuota(b.ctx, project, quota("q", maxPools(11)), ifMatch(made.Revision))
	refused(t, err, ipam.CodePreconditionFailed)
	_, err = b.PutQuota(b.ctx, project, quota("new", maxPools(11)), ifAny)
	refused(t, err, ipam.CodePreconditionFailed)

	for _, scope := range []quotaOption{ofPool(ref("net")), ofFamily(ipam.IPv4)} {
		_, err := b.PutQuota(b.ctx, project, quota("q", maxPools(10), scope), usecase.Request{})
		require.Equal(t, "/spec/scope", refused(t, err, ipam.CodeImmutableField).Fields[0].Pointer)
	}

	lowered := b.set(t, quota("q", maxPools(1)))
	require.True(t, lowered.Overdrawn)
	require.Equal(t, [3]string{"0", "0", "2"}, figures(lowered.Used))
	refuse := func() {
		t.Helper()
		_, err := b.CreatePool(b.ctx, project, child("two", "net", 24), usecase.Request{})
		refused(t, err, ipam.CodeQuotaExceeded)
	}
	refuse()
	require.NoError(t, b.DeletePool(b.ctx, project, "one", usecase.Request{}))
	refuse() // the limit is reached exactly
	raised := b.set(t, quota("q", maxPools(2)))
	require.False(t, raised.Overdrawn)
	b.pool(t, child("two", "net", 24))
	refuse2 := b.set(t, quota("q", maxPools(0)))
	require.True(t, refuse2.Overdrawn)
	require.NoError(t, b.DeletePool(b.ctx, project, "two", usecase.Request{}))
	require.NoError(t, b.DeletePool(b.ctx, project, "net", usecase.Request{}))
	require.Equal(t, [3]string{"0", "0", "0"}, b.usage(t, "q"))
}

func TestInvalidQuotaIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	before := b.dump(t)
	tooMany := new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1))
	for _, c := range []struct {
		name, pointer string
		quota         ipam.Quota
	}{
		{"NoName", "/metadata/name", quota("", maxClaims(1))},
		{"NoLimit", "/spec/limits", quota("q")},
		{"NegativeAddresses", "/spec/limits/addresses", quota("q", maxAddresses(-1))},
		{"MoreThanAllAddresses", "/spec/limits/addresses", quota("q", func(s *ipam.QuotaSpec) { s.Limits.Addresses = tooMany })},
		{"NegativeClaims", "/spec/limits/claims", quota("q", maxClaims(-1))},
		{"NegativePools", "/spec/limits/pools", quota("q", maxPools(-1))},
		{"AnotherFamily", "/spec/scope/ipFamily", quota("q", maxPools(1), ofFamily("IPv5"))},
		{"PoolWithoutAProject", "/spec/scope/poolRef", quota("q", maxPools(1), ofPool(ipam.Ref{Name: "net"}))},
		{"PoolWithoutAName", "/spec/scope/poolRef", quota("q", maxPools(1), ofPool(ipam.Ref{Project: project}))},
		{"LongDescription", "/spec/description", quota("q", maxPools(1), described(strings.Repeat("x", 1025)))},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := b.PutQuota(b.ctx, project, c.quota, usecase.Request{})
			require.Equal(t, c.pointer, refused(t, err, ipam.CodeInvalidArgument).Fields[0].Pointer)
		})
	}
	require.Equal(t, before, b.dump(t))
	all := quota("q", func(s *ipam.QuotaSpec) { s.Limits.Addresses = new(big.Int).Lsh(big.NewInt(1), 128) })
	require.Equal(t, "340282366920938463463374607431768211456", b.set(t, all).Spec.Limits.Addresses.String(), "all of IPv6")
}

func TestQuotasOfAProjectAreLimited(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var want []string
	for i := range storage.MaxQuotas {
		name := fmt.Sprintf("q%02d", i)
		want = append(want, name)
		b.set(t, quota(name, maxClaims(1)))
	}
	_, err := b.PutQuota(b.ctx, project, quota("more", maxClaims(1)), usecase.Request{})
	refusedAsFull(t, err, "16")
	b.set(t, quota("q00", maxClaims(2)))
	for _, limit := range []int{1, 5, 100} {
		var got []string
		for _, q := range all(t, limit, func(n int, c string) (paging.Page[ipam.Quota], error) {
			return b.ListQuotas(b.ctx, project, n, c, usecase.Reading{})
		}) {
			got = append(got, q.Name)
		}
		require.Equal(t, want, got)
	}
	require.NoError(t, b.DeleteQuota(b.ctx, project, "q15", usecase.Request{}))
	refused(t, b.DeleteQuota(b.ctx, project, "q15", usecase.Request{}), ipam.CodeNotFound)
	b.set(t, quota("more", maxClaims(1)))
	require.Len(t, b.dump(t)["quota_shards"], storage.MaxQuotas*ipam.QuotaShards)
}

// Pools are created and deleted while a quota is created. In the end, the quota's usage must count exactly the pools that exist.
func TestQuotaCreatedDuringPoolChangesCountsExactly(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	elsewhere, _ := b.server(t)
	var quotas []string
	for round := range 4 {
		quotas = append(quotas, fmt.Sprintf("q%d", round))
		errs := make([]error, 7)
		var wg sync.WaitGroup
		for i := range 6 {
			name := fmt.Sprintf("p%d", i)
			wg.Go(func() {
				if round%2 == 0 {
					_, errs[i] = b.CreatePool(b.ctx, project, child(name, "net", 24), usecase.Request{})
				} else {
					errs[i] = b.DeletePool(b.ctx, project, name, usecase.Request{})
				}
			})
		}
		wg.Go(func() {
			_, errs[6] = elsewhere.PutQuota(b.ctx, project, quota(quotas[round], maxPools(100)), usecase.Request{})
		})
		wg.Wait()
		for _, err := range errs {
			require.NoError(t, err)
		}
		want := map[bool]string{true: "7", false: "1"}[round%2 == 0]
		for _, q := range quotas {
			require.Equal(t, want, b.usage(t, q)[2], "%s after round %d", q, round)
		}
	}
}
