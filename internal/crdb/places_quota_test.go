package crdb_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// limitClaims sets the quota for claims of the platform project.
func limitClaims(t testing.TB, h *house, n int64) {
	t.Helper()
	_, err := h.svc.PutQuota(admin(t), project, ipam.Quota{Metadata: ipam.Metadata{Name: "all"}, Spec: ipam.QuotaSpec{Limits: ipam.QuotaLimits{Claims: &n}}}, usecase.Request{})
	require.NoError(t, err)
}

// retryContention repeats a request as long as it is refused because of contention. Such a refusal changes nothing.
func retryContention(run func() error) error {
	for {
		if err := run(); !ipam.IsCode(err, ipam.CodeContention) {
			return err
		}
	}
}

// Concurrent claims in both regions succeed exactly as often as the quota allows. A release in either region makes room for a claim in either region.
// If a quota is older than a region, it has no shards in that region at first. It limits the claims there anyway.
func TestQuotaLimitsAllRegionsTogether(t *testing.T) {
	t.Parallel()
	for _, older := range []bool{false, true} {
		t.Run(fmt.Sprint("OlderThanTheRegion=", older), func(t *testing.T) {
			t.Parallel()
			here, there := abroad(t)
			poolsOfBoth(t, here, there)
			const limit, asked = 40, 80
			limitClaims(t, here, limit)
			if older {
				exec(t, here, `UPDATE quota_shards AS s SET spare_claims = s.spare_claims + o.spare_claims FROM quota_shards AS o
					WHERE s.region = 'local' AND o.region = '`+away+`' AND o.quota_id = s.quota_id AND o.shard = s.shard`)
				exec(t, here, "DELETE FROM quota_shards WHERE region = '"+away+"'")
			}
			results := make([]error, asked)
			ask := func(i int) {
				h, pool := here, "here"
				if i%2 == 1 {
					h, pool = there, "there"
				}
				results[i] = retryContention(func() error {
					_, err := h.svc.CreateClaim(admin(t), project, claimOf(fmt.Sprint("c", i), project, pool, 32), usecase.Request{})
					return err
				})
			}
			ask(0) // one claim in each region first, so that neither region can use the whole quota before the other begins
			ask(1)
			var wg sync.WaitGroup
			for i := 2; i < asked; i++ {
				wg.Go(func() { ask(i) })
			}
			wg.Wait()
			clean(t, here.dsn)
			made, abroad := 0, 0
			for i, err := range results {
				if err == nil {
					made++
					abroad += i % 2
					continue
				}
				require.True(t, ipam.IsCode(err, ipam.CodeQuotaExceeded), "%d: %v", i, err)
			}
			require.Equal(t, limit, made)
			if !older { // at first, only the other region has a free part of the quota, and it may use all of it
				require.Positive(t, abroad, "both regions were served")
				require.Less(t, abroad, limit, "both regions were served")
			}
			for _, h := range []*house{here, there} {
				q, err := h.svc.GetQuota(admin(t), project, "all")
				require.NoError(t, err)
				require.EqualValues(t, limit, q.Used.Claims)
			}
			for i, err := range results {
				if err == nil {
					wg.Go(func() {
						h := []*house{here, there}[(i/2)%2] // half of the releases run in the other region
						results[i] = retryContention(func() error { return h.svc.DeleteClaim(admin(t), project, fmt.Sprint("c", i), usecase.Request{}) })
					})
				}
			}
			wg.Wait()
			q, err := here.svc.GetQuota(admin(t), project, "all")
			require.NoError(t, err)
			require.Zero(t, q.Used.Claims)
			there.createClaim(t, claimOf("again", project, "there", 32))
			limitClaims(t, there, 1)
			_, err = here.svc.CreateClaim(admin(t), project, claimOf("more", project, "here", 32), usecase.Request{})
			require.True(t, ipam.IsCode(err, ipam.CodeQuotaExceeded), "%v", err)
			require.NoError(t, there.svc.DeleteQuota(admin(t), project, "all", usecase.Request{}))
			require.Zero(t, count(t, here, "SELECT count(*) FROM quota_shards"))
			clean(t, here.dsn)
		})
	}
}

// An old quota has no shards in a new region. The first transaction there that counts may be a release.
func TestReleaseCreatesMissingQuotaShardsOfItsRegion(t *testing.T) {
	t.Parallel()
	here, there := abroad(t)
	poolsOfBoth(t, here, there)
	made := []string{"a", "b"}
	for _, name := range made {
		there.createClaim(t, claimOf(name, project, "there", 32))
	}
	limitClaims(t, here, 2)
	exec(t, here, `UPDATE quota_shards AS s SET spare_claims = s.spare_claims + o.spare_claims FROM quota_shards AS o
		WHERE s.region = 'local' AND o.region = '`+away+`' AND o.quota_id = s.quota_id AND o.shard = s.shard`)
	exec(t, here, "DELETE FROM quota_shards WHERE region = '"+away+"'")
	_, err := there.svc.CreateClaim(admin(t), project, claimOf("c", project, "there", 32), usecase.Request{})
	require.True(t, ipam.IsCode(err, ipam.CodeQuotaExceeded), "no shard is not no quota: %v", err)
	require.NoError(t, there.svc.DeleteClaim(admin(t), project, "a", usecase.Request{}))
	there.createClaim(t, claimOf("c", project, "there", 32))
	_, err = there.svc.CreateClaim(admin(t), project, claimOf("d", project, "there", 32), usecase.Request{})
	require.True(t, ipam.IsCode(err, ipam.CodeQuotaExceeded), "%v", err)
	clean(t, here.dsn)
}
