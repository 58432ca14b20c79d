package claims_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	api "k8s.io/apimachinery/pkg/api/errors"
	condition "k8s.io/apimachinery/pkg/api/meta"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/conditions"
	"github.com/carve-ipam/carve/controller/internal/realm"
)

var (
	length32 = int32(32)
	one      = ipam.IPClaimSpec{PoolRef: &ipam.PoolRef{Name: "pool"}, PrefixLength: &length32}
)

func TestAClaimIsHeldUntilItIsDeleted(t *testing.T) {
	s := begin(t)
	stop := s.run()
	c := s.bound(s.claim("web", one))
	require.Equal(t, "10.20.0.0/32", c.Status.CIDR)
	require.Equal(t, "10.20.0.0", c.Status.Address)
	require.Equal(t, s.name+"/pool", c.Status.Pool)
	require.Equal(t, []string{"10.20.0.0/32"}, s.held())

	stop()
	before := c.ResourceVersion
	stop = s.run() // the controller claims and writes nothing again
	other := s.bound(s.claim("db", one))
	require.Equal(t, before, s.bound(c).ResourceVersion)
	require.Len(t, s.held(), 2)

	stop()
	require.NoError(t, world.Client.Delete(t.Context(), c))
	require.NoError(t, world.Client.Delete(t.Context(), other))
	require.Len(t, s.held(), 2, "without a controller nothing is released")
	s.run()
	s.vanishes(c)
	s.vanishes(other)
	require.Empty(t, s.held())
}

func TestClaimOnAFullPoolIsStalledUntilARelease(t *testing.T) {
	s := begin(t)
	s.run()
	length := int32(28)
	whole := s.bound(s.claim("whole", ipam.IPClaimSpec{PoolRef: one.PoolRef, PrefixLength: &length}))
	c := s.becomes(s.claim("late", one), conditions.Stalled, meta.ConditionTrue)
	require.Equal(t, ipam.ReasonPoolFull, condition.FindStatusCondition(c.Status.Conditions, conditions.Ready).Reason)
	require.NoError(t, world.Client.Delete(t.Context(), whole))
	c = s.bound(c)
	require.True(t, condition.IsStatusConditionFalse(c.Status.Conditions, conditions.Stalled))
}

func TestClaimReleasedInCarveIsStalledAndNotClaimedAgain(t *testing.T) {
	s := begin(t)
	stop := s.run()
	c := s.bound(s.claim("web", one))
	stop()
	require.NoError(t, world.Carve.Release(t.Context(), s.name, c.Status.Claim.Name))
	s.run()
	c = s.becomes(c, conditions.Stalled, meta.ConditionTrue)
	require.Equal(t, "10.20.0.0/32", c.Status.CIDR, "what was lost can be read")
	require.Empty(t, s.held())
	require.NoError(t, world.Client.Delete(t.Context(), c))
	s.vanishes(c)
}

func TestEndOfThePodReleasesItsClaim(t *testing.T) {
	for name, end := range map[string]func(story, *core.Pod){
		"finishes":    func(s story, p *core.Pod) { s.phase(p, core.PodSucceeded) },
		"is removed":  func(s story, p *core.Pod) { s.remove(p) },
		"is replaced": func(s story, p *core.Pod) { s.remove(p); s.pod(p.Name) },
	} {
		for when, stopped := range map[string]bool{"": false, " while no controller runs": true} {
			t.Run(name+when, func(t *testing.T) {
				s := begin(t)
				stop := s.run()
				pod, owner := s.pod("web-0")
				c := s.bound(s.claim("web-0-net", one, owner))
				if stopped {
					stop()
				}
				end(s, pod)
				if stopped {
					require.Len(t, s.held(), 1)
					s.run()
				}
				s.vanishes(c)
				require.Empty(t, s.held())
			})
		}
	}
}

func TestDeletedClaimKeepsItsBlockWhileItsPodLives(t *testing.T) {
	s := begin(t)
	s.run()
	pod, owner := s.pod("web-0")
	c := s.bound(s.claim("web-0-net", one, owner))
	require.NoError(t, world.Client.Delete(t.Context(), c))
	s.becomes(c, conditions.Reconciling, meta.ConditionTrue)
	require.Len(t, s.held(), 1)
	s.remove(pod)
	s.vanishes(c)
	require.Empty(t, s.held())
}

// TestCopiedClaimEndsNoPodOfAnotherNamespace copies a claim to a namespace without the pod that owns it. The pod lives in the claim's own
// namespace.
func TestCopiedClaimEndsNoPodOfAnotherNamespace(t *testing.T) {
	s := begin(t)
	s.run()
	pod, owner := s.pod("web-0")
	c := s.bound(s.claim("web-0-net", one, owner))
	elsewhere := core.Namespace{ObjectMeta: meta.ObjectMeta{GenerateName: "story-"}}
	require.NoError(t, world.Client.Create(t.Context(), &elsewhere))
	copied := &ipam.IPClaim{ObjectMeta: meta.ObjectMeta{
		Namespace: elsewhere.Name, Name: c.Name, Finalizers: c.Finalizers, OwnerReferences: c.OwnerReferences,
	}, Spec: c.Spec}
	require.Contains(t, copied.Finalizers, ipam.Finalizer)
	require.NoError(t, world.Client.Create(t.Context(), copied))
	s.vanishes(copied)
	name, err := realm.NameOf(t.Context(), world.Client)
	require.NoError(t, err)
	consumer, err := world.Carve.GetConsumer(t.Context(), s.name, name, string(pod.UID))
	require.NoError(t, err)
	require.Equal(t, carve.IPConsumerPhaseLive, consumer.Status.Phase)
	require.Equal(t, []string{c.Status.CIDR}, s.held())
}

func TestAPIServerRefusesAnInvalidClaim(t *testing.T) {
	s := begin(t)
	const later = ipam.BindingWaitForFirstConsumer
	for name, spec := range map[string]ipam.IPClaimSpec{
		"at most one of className and poolRef":          {ClassName: "a", PoolRef: &ipam.PoolRef{Name: "b"}},
		"at most one of cidr, address and prefixLength": {CIDR: "10.0.0.0/24", PrefixLength: &length32},
		"without bits set after its prefix":             {CIDR: "10.0.0.1/24"},
		"must be an address such as":                    {Address: "10.0.0"},
		"nodeRole requires the bindingMode":             {NodeRole: "node"},
		"nodeRole requires maxConsumers 1":              {NodeRole: "node", BindingMode: later, MaxConsumers: 2},
		"scope must not have a value for nodeRole":      {NodeRole: "node", BindingMode: later, Scope: map[string]ipam.ScopeValue{"node": "a"}},
		"should be less than or equal to 256":           {MaxConsumers: 257},
		"Unsupported value":                             {BindingMode: "Later"},
	} {
		err := world.Client.Create(t.Context(), &ipam.IPClaim{ObjectMeta: meta.ObjectMeta{Namespace: s.name, Name: "x"}, Spec: spec})
		require.True(t, api.IsInvalid(err), "%s: %v", name, err)
		require.ErrorContains(t, err, name)
	}
	c := s.claim("web", one)
	c.Spec.Address = "10.20.0.3"
	c.Spec.PrefixLength = nil
	require.ErrorContains(t, world.Client.Update(t.Context(), c), "a claim cannot be changed")
	require.NoError(t, world.Client.Delete(t.Context(), c)) // or the controller of a later test would claim a block for it
}

// TestBlockOfALostPodCoolsDown gives a pod the taint manager's condition. The taint manager does not see the pod, which may still send from its
// address.
func TestBlockOfALostPodCoolsDown(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.run()
	pod, owner := s.pod("web-0")
	c := s.bound(s.claim("web-0-net", one, owner))
	pod.Status.Conditions = []core.PodCondition{{Type: core.DisruptionTarget, Status: core.ConditionTrue, Reason: "DeletionByTaintManager"}}
	s.phase(pod, core.PodRunning)
	s.becomes(c, conditions.Reconciling, meta.ConditionTrue)
	s.vanishes(c)
	require.Empty(t, s.held())
	name, err := realm.NameOf(t.Context(), world.Client)
	require.NoError(t, err)
	ended, err := world.Carve.GetConsumer(t.Context(), s.name, name, string(pod.UID))
	require.NoError(t, err)
	require.Equal(t, carve.IPConsumerStatusReason("Expired"), ended.Status.Reason, "it was held for some seconds still")
	require.NotEqual(t, "10.20.0.0/32", s.bound(s.claim("next", one)).Status.CIDR)
}
