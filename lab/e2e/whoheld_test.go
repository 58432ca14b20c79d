package e2e

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// heldAt returns the history of an address at a time.
func (p *tenant) heldAt(t testing.TB, address string, at time.Time) []client.HistoryEntry {
	t.Helper()
	return all[client.HistoryEntry](t, p.by["viewer"], p.at("history")+"?address="+address+"&at="+url.QueryEscape(at.UTC().Format(time.RFC3339Nano)))
}

// One address has several holders and phases, one after another. For a moment between two of these, the history must return the holder at that
// moment.
func TestAddressHistoryReturnsTheHolderAtEachMoment(t *testing.T) {
	t.Parallel()
	town := setupMarket(t)
	north, south := town.north, town.south
	north.share(t, "market", "shared")
	north.grant(t, "market", "south")
	const address = "192.0.2.77"
	type holding struct {
		project, claim, phase string // the name of the claim as the owner of the pool sees it
	}
	var moments []time.Time
	var want []*holding
	step := func(h *holding, do func()) {
		t.Helper()
		do()
		moments, want = append(moments, time.Now()), append(want, h)
		<-time.After(5 * time.Millisecond) // the record of the next step may be up to 4 ms older than its request (ADR 23)
	}
	claim := func(p *tenant, name string, policy string) {
		p.admin().created(t, p.take(t, name, buy(obj{"address": address, "reclaimPolicy": policy})))
	}
	release := func(p *tenant, name string) {
		p.consumer().deleted(t, p.consumer().do(t, http.MethodDelete, p.at("claims", p.named(name)), nil))
	}
	var kept string
	begin := time.Now()
	step(nil, func() {})
	step(&holding{"north", north.named("one"), "Bound"}, func() { claim(north, "one", "Delete") })
	step(nil, func() { release(north, "one") })
	step(&holding{"south", "", "Bound"}, func() {
		claim(south, "two", "Retain")
		kept = decode[client.IPClaim](t, south.consumer().do(t, http.MethodGet, south.at("claims", south.named("two")), nil)).Status.AllocationRef.Name
	})
	step(&holding{"south", "", "Retained"}, func() { release(south, "two") })
	step(&holding{"south", "", "Bound"}, func() {
		spec := obj{"allocationRef": obj{"name": kept}, "reclaimPolicy": "Retain"}
		south.admin().created(t, south.consumer().do(t, http.MethodPost, south.at("claims"), named(south.named("three"), spec)))
	})
	step(&holding{"south", "", "Retained"}, func() { release(south, "three") })
	step(nil, func() {
		north.admin().deleted(t, north.admin().do(t, http.MethodDelete, north.at("allocations", kept), nil))
	})
	step(&holding{"north", north.named("four"), "Bound"}, func() { claim(north, "four", "Delete") })

	for round, now := range []string{"WhileItIsHeld", "AfterAll"} {
		t.Run(now, func(t *testing.T) {
			for i, at := range moments {
				got := north.heldAt(t, address, at)
				if want[i] == nil {
					require.Empty(t, got, "step %d", i)
					continue
				}
				require.Len(t, got, 1, "step %d", i)
				e := got[0]
				require.Equal(t, []any{want[i].project, client.IPAllocationPhase(want[i].phase), address + "/32", client.HistoryPurpose("Claim"), client.ResolvedRef{Project: "north", Name: "market"}},
					[]any{e.Consumer, e.Phase, e.AllocatedCIDR, e.Purpose, e.PoolRef}, "step %d", i)
				if want[i].claim == "" {
					require.Nil(t, e.ClaimRef)
				} else {
					require.Equal(t, &client.ResolvedRef{Project: "north", Name: want[i].claim}, e.ClaimRef)
				}
				require.False(t, at.Before(e.Since))
				require.Equal(t, i == len(moments)-1 && round == 0, e.Until == nil)
				if e.Until != nil {
					require.True(t, at.Before(*e.Until))
				}
			}
			require.Empty(t, north.heldAt(t, address, begin.Add(-time.Hour)))
			whole := all[client.HistoryEntry](t, north.by["viewer"], north.at("history")+"?address="+address)
			require.Len(t, whole, 6)
			for i := 1; i < len(whole); i++ {
				require.NotNil(t, whole[i].Until)
				require.False(t, whole[i-1].Since.Before(*whole[i].Until), "newest first, one after the other")
			}
		})
		if round == 0 {
			release(north, "four")
		}
	}
	t.Run("AHoldEndsWhenTheNextBegins", func(t *testing.T) {
		whole := all[client.HistoryEntry](t, north.by["viewer"], north.at("history")+"?address="+address)
		for _, e := range whole {
			require.Equal(t, []client.HistoryEntry{e}, north.heldAt(t, address, e.Since), "the beginning is included")
			for _, after := range north.heldAt(t, address, *e.Until) {
				require.NotEqual(t, e, after, "the end is not")
			}
		}
	})
	t.Run("OtherProjectsGetNoHistory", func(t *testing.T) {
		for _, at := range moments {
			require.Empty(t, south.heldAt(t, address, at))
		}
	})
	t.Run("HistoryOfBlocksUpToTheWholePool", func(t *testing.T) {
		c := north.by["provider"]
		c.created(t, c.do(t, http.MethodPost, north.at("claims"), named("deep", obj{"poolRef": obj{"name": north.named("child")}, "address": "10.0.129.7"})))
		c.deleted(t, c.do(t, http.MethodDelete, north.at("claims", "deep"), nil))
		c.deleted(t, c.do(t, http.MethodDelete, north.at("pools", north.named("child")), nil))
		var held time.Time // by the clock of the records
		for _, e := range all[client.HistoryEntry](t, north.by["viewer"], north.at("history")+"?address=10.0.129.7") {
			if e.AllocatedCIDR == "10.0.129.7/32" {
				held = e.Since
			}
		}
		got := north.heldAt(t, "10.0.129.7", held)
		require.Len(t, got, 2)
		require.Equal(t, []string{"10.0.129.7/32", "10.0.128.0/20"}, []string{got[0].AllocatedCIDR, got[1].AllocatedCIDR}, "the most specific first")
		require.Equal(t, &client.ResolvedRef{Project: "north", Name: north.named("child")}, got[1].ChildPoolRef)
		require.Empty(t, north.heldAt(t, "10.0.129.7", time.Now()))
		require.Len(t, north.heldAt(t, "10.0.140.1", held), 1)
	})
}
