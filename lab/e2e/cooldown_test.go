package e2e

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// While a released block cools down, no claim can get it. Afterwards any claim can get it.
func TestReleasedBlockIsNotReusedDuringItsCoolDown(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.class(t, "rested", obj{"ipFamily": "IPv4", "defaultPrefixLength": 29, "reuseAfter": "1h"})
	w.poolOf(t, project, "p", "192.0.2.0/28", "rested")
	cooling := func() []client.IPAllocation {
		return all[client.IPAllocation](t, w.caller, at("allocations")+"?phase=CoolingDown")
	}
	first, second := w.claim(t, "first", by("rested")), w.claim(t, "second", by("rested"))
	w.quota(t, "q", obj{}, obj{"claims": 2})
	began := time.Now()
	w.release(t, "first")
	t.Run("CountsInNoQuota", func(t *testing.T) { w.used(t, "q", "8", 1, 1) })
	t.Run("ShowsInThePool", func(t *testing.T) {
		require.Zero(t, w.available(t, "p").Sign())
		require.Equal(t, client.Count("8"), w.getPool(t, "p").Status.Capacity.CoolingDown)
		rests := cooling()
		require.Len(t, rests, 1)
		require.Equal(t, first.Status.AllocatedCIDR, rests[0].Status.AllocatedCIDR)
		require.False(t, rests[0].Status.CoolUntil.Before(began.Add(time.Hour-askew)))
	})
	t.Run("IsGivenToNoClaim", func(t *testing.T) {
		w.writesNothing(t, func() {
			p := w.refused(t, w.postClaim(t, "x", by("rested")), "exhausted_by_cooldown")
			require.True(t, p.CooledDownAt.Equal(*cooling()[0].Status.CoolUntil))
			w.refused(t, w.postClaim(t, "x", obj{"className": "rested", "cidr": first.Status.AllocatedCIDR}), "block_taken")
			w.refused(t, w.postClaim(t, "x", obj{"allocationRef": obj{"name": cooling()[0].Metadata.Name}}), "in_use")
			w.refused(t, w.do(t, http.MethodPost, at("pools"), named("x", child("p", 29))), "exhausted_by_cooldown")
		})
	})
	t.Run("HasTheDurationOfTheClaimsCreation", func(t *testing.T) {
		w.ok(t, w.do(t, http.MethodPatch, at("classes", "rested"), obj{"spec": obj{"reuseAfter": "0s"}}, ifMatch("*")))
		w.release(t, "second")
		rests := cooling()
		require.Len(t, rests, 2)
		require.Equal(t, second.Status.AllocatedCIDR, rests[1].Status.AllocatedCIDR)
	})
	t.Run("IsEndedByTheOwnerOfThePool", func(t *testing.T) {
		for _, each := range cooling() {
			w.deleted(t, w.do(t, http.MethodDelete, at("allocations", each.Metadata.Name), nil))
		}
		require.EqualValues(t, 16, w.available(t, "p").Int64())
		w.claim(t, "again", obj{"className": "rested", "cidr": first.Status.AllocatedCIDR})
		w.release(t, "again")
		require.Empty(t, cooling(), "the class says 0s by now")
	})
	t.Run("HasNoHolderInTheHistory", func(t *testing.T) {
		for _, e := range all[client.HistoryEntry](t, w.caller, at("history")+"?address=192.0.2.1") {
			require.Equal(t, client.IPAllocationPhase("Bound"), e.Phase)
			require.NotNil(t, e.Until)
		}
	})
}

// The service frees a block by itself when its cool-down has ended, and not before.
func TestBlockIsFreeWhenItHasCooledDown(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.class(t, "brief", obj{"ipFamily": "IPv4", "defaultPrefixLength": 30})
	w.poolOf(t, project, "p", "192.0.2.0/30", "brief")
	w.ok(t, w.do(t, http.MethodPatch, at("pools", "p"), obj{"spec": obj{"reuseAfter": "2s"}}, ifMatch("*")))
	first := w.claim(t, "first", by("brief"))
	allocation := at("allocations", first.Status.AllocationRef.Name)
	released := time.Now()
	w.release(t, "first")
	until := released.Add(2 * time.Second)
	if a := w.do(t, http.MethodGet, allocation, nil); a.status == http.StatusOK { // on a busy machine, the cool-down may already have ended
		rests := decode[client.IPAllocation](t, a)
		require.Equal(t, client.IPAllocationPhase("CoolingDown"), rests.Status.Phase)
		require.False(t, rests.Status.CoolUntil.Before(until.Add(-askew)))
		until = *rests.Status.CoolUntil
	}
	var next answer
	require.Eventually(t, func() bool {
		if next = w.postClaim(t, "next", by("brief")); next.status == http.StatusCreated {
			return true
		}
		p := w.refused(t, next, "exhausted_by_cooldown")
		require.Equal(t, client.Count("4"), p.CoolingDownAddresses)
		return false
	}, waitLimit, tick)
	require.False(t, time.Now().Before(until.Add(-askew)), "not before its time")
	require.Equal(t, first.Status.AllocatedCIDR, decode[client.IPClaim](t, next).Status.AllocatedCIDR)
	w.refused(t, w.do(t, http.MethodGet, allocation, nil), "not_found")
}
