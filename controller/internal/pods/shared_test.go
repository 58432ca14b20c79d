package pods_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	condition "k8s.io/apimachinery/pkg/api/meta"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/conditions"
	"github.com/carve-ipam/carve/controller/internal/entries"
)

var shared = entries.Entry{Name: "vip", Claim: "vip"}

// consumers returns the number of a claim's consumers in Carve.
func (s *story) consumers(c *ipam.IPClaim) int {
	s.Helper()
	got, err := world.Carve.GetClaim(s.Context(), s.name, c.Status.Claim.Name)
	require.NoError(s, err)
	return got.Status.Consumers
}

// scenario 18.
func TestSharedClaimTakesPodsUpToItsLimit(t *testing.T) {
	s := begin(t)
	stop := s.run()
	first := s.pod("web-0", "node", shared)
	s.event("ClaimMissing")
	c := s.bound(s.claim("vip", ipam.IPClaimSpec{MaxConsumers: 2}))
	s.users(c, first)
	pending := s.pod("web-1", "", shared)
	second := s.pod("web-2", "node", shared)
	s.users(c, first, second)
	s.place(pending, "node")
	s.event("ClaimFull")
	require.Equal(t, 2, s.consumers(c))
	require.Equal(t, c.Status.Address, s.told(second, 1)["vip"].Address)
	s.told(pending, 0)

	s.phase(first, core.PodFailed) // it has finished, and another pod replaces it
	s.users(c, second, pending)
	s.told(pending, 1)
	stop()
	s.remove(second)
	s.run()
	s.users(c, pending)
	require.Equal(t, 1, s.consumers(c))

	require.NoError(t, world.Client.Delete(t.Context(), c)) // no further pod may use it, and it stays for its current pods
	s.becomes(c, conditions.Reconciling, meta.ConditionTrue)
	late := s.pod("web-3", "node", shared)
	s.told(late, 0)
	require.Len(t, s.held(), 1)
	s.remove(pending)
	s.vanishes(c)
	require.Empty(t, s.held())
}

// a claim that waited for its first consumer releases its block with the last one.
func TestDelayedClaimReleasesItsBlockWithItsLastPod(t *testing.T) {
	s := begin(t)
	s.run()
	c := s.claim("vip", ipam.IPClaimSpec{MaxConsumers: 2, BindingMode: ipam.BindingWaitForFirstConsumer})
	s.becomes(c, conditions.Reconciling, meta.ConditionTrue)
	require.Empty(t, s.held())
	first, second := s.pod("web-0", "node", shared), s.pod("web-1", "node", shared)
	s.users(s.bound(c), first, second)
	s.remove(first)
	s.users(s.bound(c), second)
	require.Len(t, s.held(), 1)
	s.remove(second)
	s.becomes(c, conditions.Reconciling, meta.ConditionTrue)
	require.Empty(t, c.Status.CIDR)
	require.Empty(t, s.held())
	third := s.pod("web-2", "node", shared)
	s.users(s.bound(c), third)
	require.Len(t, s.held(), 1)
}

// a claim that is bound at once keeps its block without a pod.
func TestImmediateClaimKeepsItsBlockWithoutAPod(t *testing.T) {
	s := begin(t)
	s.run()
	c := s.bound(s.claim("vip", ipam.IPClaimSpec{}))
	pod := s.pod("web-0", "node", shared)
	s.users(c, pod)
	s.remove(pod)
	s.users(c)
	require.Equal(t, 0, s.consumers(c))
	require.True(t, condition.IsStatusConditionTrue(c.Status.Conditions, conditions.Ready))
}

// a pod cannot use a claim that belongs to another pod.
func TestPodCannotUseAnotherPodsClaim(t *testing.T) {
	s := begin(t)
	s.run()
	owner := s.pod("web-0", "node", net1)
	name := s.told(owner, 1)["net1"].Claim
	s.told(s.pod("web-1", "node", entries.Entry{Name: "net1", Claim: name}), 0)
	s.event("ClaimOfAnother")
}

// W-18, R-20: the sweep finds a pod that no IPClaim names.
func TestSweepReleasesClaimsWithoutAnIPClaim(t *testing.T) {
	s := begin(t)
	stop := s.run()
	pod, kept := s.pod("web-0", "node", net1), s.pod("web-1", "node", net1)
	c, mine := s.get(s.told(pod, 1)["net1"]), s.bound(s.claim("mine", ipam.IPClaimSpec{}))
	left := s.told(kept, 1)["net1"]
	stop()
	for _, c := range []*ipam.IPClaim{c, mine} { // a user removes the finalizers by force
		c.Finalizers = nil
		require.NoError(t, world.Client.Update(t.Context(), c))
		require.NoError(t, world.Client.Delete(t.Context(), c))
	}
	s.remove(pod)
	require.Len(t, s.held(), 3)
	s.run()
	s.eventually("only what lives is held", func() bool { return len(s.held()) == 1 })
	require.Equal(t, []string{left.CIDR}, s.held())
	s.event(ipam.ReasonOrphansCleaned)
	got, err := world.Carve.GetConsumer(t.Context(), s.name, s.name, string(pod.UID))
	require.NoError(t, err)
	require.Equal(t, carve.IPConsumerPhaseEnded, got.Status.Phase)
}

// The controller reports drift at once, and never acts on it.
func TestChangeOfAPodInCarveIsShownAtOnce(t *testing.T) {
	for name, change := range map[string]func(s *story, c *ipam.IPClaim, pod *core.Pod){
		"released": func(s *story, c *ipam.IPClaim, pod *core.Pod) {
			err := world.Carve.DetachConsumer(s.Context(), s.name, c.Status.Claim.Name, string(pod.UID),
				carve.DetachConsumerParams{Realm: &s.name})
			require.NoError(s, err)
		},
		"ended": func(s *story, _ *ipam.IPClaim, pod *core.Pod) {
			_, err := world.Carve.EndConsumer(s.Context(), s.name, s.name, string(pod.UID))
			require.NoError(s, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t)
			stop := s.run()
			pod := s.pod("web-0", "node", net1)
			c := s.get(s.told(pod, 1)["net1"])
			change(s, c, pod)
			s.becomes(c, conditions.Stalled, meta.ConditionTrue)
			s.event(ipam.ReasonError)
			require.NotEmpty(t, c.Status.CIDR)
			require.Empty(t, s.held())
			stop()
			s.run()
			s.told(s.pod("web-1", "node", net1), 1)
			require.Len(t, s.held(), 1)
			s.becomes(c, conditions.Stalled, meta.ConditionTrue)
			s.remove(pod)
			s.vanishes(c)
		})
	}
}

// The status shows a change in Carve until it is reverted.
func TestClaimRelabelledInCarveIsStalledUntilReverted(t *testing.T) {
	s := begin(t)
	s.run()
	c := s.bound(s.claim("mine", ipam.IPClaimSpec{}))
	const label = "ipam.carve.dev/realm"
	relabel := func(realm string) {
		current := "*"
		body := carve.IPClaimPatch(`{"metadata":{"labels":{"` + label + `":"` + realm + `"}}}`)
		_, err := world.Carve.PatchClaim(t.Context(), s.name, c.Status.Claim.Name, body,
			carve.PatchClaimParams{IfMatch: &current})
		require.NoError(t, err)
	}
	relabel("another")
	s.becomes(c, conditions.Stalled, meta.ConditionTrue)
	relabel(s.name)
	s.bound(c)
}

// If many pods or claims are missing, they may not be gone. Carve's breaker decides on the pods, and a person on the claims.
func TestSweepStopsWhenManyPodsOrClaimsAreMissing(t *testing.T) {
	const many = 25
	s := begin(t)
	_, err := world.Carve.CreatePool(t.Context(), s.name, carve.IPPoolCreate{
		Metadata: carve.CreateMetadata{Name: "large"}, Spec: carve.IPPoolSpec{CIDR: "10.40.0.0/24"},
	})
	require.NoError(t, err)
	ttl := int64(3600)
	for i := range many {
		uid := fmt.Sprintf("nobody-%d", i)
		_, err := world.Carve.PutClaim(t.Context(), s.name, "k8s-"+uid, carve.IPClaimPut{
			Metadata: &carve.PutMetadata{Labels: carve.Labels{"ipam.carve.dev/realm": s.name}},
			Spec: carve.IPClaimSpec{PoolRef: &carve.Ref{Name: "large"}, PrefixLength: 32,
				OwnerRef: &carve.OwnerRef{Kind: "IPClaim", Name: "x", UID: uid}},
		})
		require.NoError(t, err)
		_, err = world.Carve.PutConsumer(t.Context(), s.name, s.name, uid,
			carve.IPConsumerPut{Spec: carve.IPConsumerSpec{Kind: "Pod", Name: "x", TTLSeconds: &ttl}})
		require.NoError(t, err)
	}
	s.run()
	s.eventually("all are let expire", func() bool {
		expiring := 0
		for c, err := range world.Carve.Consumers(t.Context(), s.name, s.name) {
			require.NoError(t, err)
			require.NotEqual(t, carve.IPConsumerStatusReason("Ended"), c.Status.Reason)
			if *c.Spec.TTLSeconds == 10 {
				expiring++
			}
		}
		return expiring == many
	})
	s.told(s.pod("web-0", "node", net1), 1)
	require.Len(t, s.held(), many+1)
}

// The status also shows a pod that has ended in Carve if the claim keeps its block.
func TestPodEndedInCarveIsShown(t *testing.T) {
	s := begin(t)
	s.run()
	c := s.bound(s.claim("vip", ipam.IPClaimSpec{}))
	pod := s.pod("web-0", "node", shared)
	s.users(c, pod)
	_, err := world.Carve.EndConsumer(t.Context(), s.name, s.name, string(pod.UID))
	require.NoError(t, err)
	s.becomes(c, conditions.Stalled, meta.ConditionTrue)
	s.remove(pod)
	s.bound(c)
}
