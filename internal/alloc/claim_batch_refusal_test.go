package alloc_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// alike returns n claims that differ only in their names.
func alike(n int, pool string, bits int) (all []ipam.Claim) {
	for i := range n {
		all = append(all, claim(fmt.Sprint("c", i), pool, bits))
	}
	return all
}

// The refusal of a batch describes the moment before the batch. It names the number of its claims that fit, and the free addresses.
func TestRefusedBatchReportsHowManyClaimsFit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/26"))
	b.pool(t, root("full", "10.1.0.0/32"))
	b.claim(t, claim("last", "full", 32))
	b.limit(t, "few", ofClaims(9), ofPool(ref("full")))
	refuse := func(code ipam.Code, claims ...ipam.Claim) *ipam.Error {
		t.Helper()
		before := b.dump(t)
		_, err := b.CreateClaimBatch(b.ctx, project, claims, usecase.Request{})
		require.Equal(t, before, b.dump(t))
		return refused(t, err, code)
	}
	t.Run("OfAPoolWithRoomForMost", func(t *testing.T) {
		e := refuse(ipam.CodePoolExhausted, alike(20, "net", 30)...)
		require.Equal(t, "The batch does not fit. Of its 20 claims, the first 16 fit and the next does not. Nothing was claimed. "+
			"Pool acme/net had 64 addresses free before the batch, and the largest free block was a /26; the claim that does not fit needs a block of length /30.", e.Message)
		require.EqualValues(t, 16, *e.Figures.Fitting)
		require.Equal(t, []int{30, 26}, []int{*e.Figures.WantedPrefixLength, *e.Figures.LargestFreePrefixLength})
		require.Equal(t, "64", e.Figures.AvailableAddresses)
		require.Equal(t, "/claims/16", e.Fields[0].Pointer)
	})
	t.Run("OfAFullPoolAfterOne", func(t *testing.T) {
		e := refuse(ipam.CodePoolExhausted, claim("a", "net", 30), claim("b", "full", 32))
		require.Contains(t, e.Message, "Of its 2 claims, the first fits and the next does not. Nothing was claimed. Pool acme/full had no free addresses before the batch;")
		require.EqualValues(t, 1, *e.Figures.Fitting)
		require.Nil(t, e.Figures.LargestFreePrefixLength)
	})
	t.Run("OfAFullPoolAtOnce", func(t *testing.T) {
		e := refuse(ipam.CodePoolExhausted, claim("a", "full", 32), claim("b", "net", 30))
		require.Equal(t, "Pool acme/full has no free addresses; the request needs a block of length /32.", e.Message)
		require.Zero(t, *e.Figures.Fitting)
	})
	t.Run("OverAQuota", func(t *testing.T) {
		b.limit(t, "all", ofClaims(4))
		e := refuse(ipam.CodeQuotaExceeded, alike(9, "net", 30)...)
		require.Contains(t, e.Message, "Of its 9 claims, the first 3 fit and the next does not. Nothing was claimed. With the next claim: Quota acme/all allows 4 claims: 1 in use, 4 requested.")
		require.EqualValues(t, 3, *e.Figures.Fitting)
		require.Equal(t, []string{"4", "1", "4"}, []string{e.Figures.Limit, e.Figures.Used, e.Figures.Requested})
	})
}

func TestBatchRefusedByCooldownReportsThePoolBeforeIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/28", coolsDown(time.Hour)))
	b.claim(t, claim("gone", "net", 29))
	b.release(t, "gone")
	_, err := b.CreateClaimBatch(b.ctx, project, alike(3, "net", 30), usecase.Request{})
	e := refused(t, err, ipam.CodeExhaustedByCooldown)
	require.Contains(t, e.Message, "Of its 3 claims, the first 2 fit and the next does not. Nothing was claimed. Pool acme/net had 8 addresses free before the batch, and the largest free block was a /29;")
	require.EqualValues(t, 2, *e.Figures.Fitting)
	require.Positive(t, e.RetryAfter)
}
