package pods_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	condition "k8s.io/apimachinery/pkg/api/meta"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/conditions"
	"github.com/carve-ipam/carve/controller/internal/entries"
)

// scenario 62.
func TestPodKeepsItsClaimsUntilItHasFinished(t *testing.T) {
	s := begin(t)
	s.run()
	pod := s.pod("web-0", "node", net1, entries.Entry{Name: "net2", Template: "web"})
	told := s.told(pod, 2)
	require.Len(t, s.claims(), 2)
	require.Equal(t, []string{"10.20.0.0/32", "10.20.0.1/32"}, s.held())
	c, other := s.get(told["net1"]), s.get(told["net2"])
	require.Equal(t, told["net1"].Address, c.Status.Address)
	require.True(t, meta.IsControlledBy(c, pod))
	require.Equal(t, "web", c.Labels["app"])
	require.Equal(t, map[string]string{"note": "web", ipam.EntryAnnotation: "net1", ipam.TemplateAnnotation: "web"}, c.Annotations)

	s.phase(pod, core.PodSucceeded)
	s.vanishes(c)
	s.vanishes(other)
	require.Empty(t, s.held())
	s.annotate(pod, ipam.ClaimsAnnotation, `[{"name": "late", "template": "web"}]`)
	s.told(s.pod("web-1", "node", net1), 1) // when this pod has its claim, the controller has reconciled the finished pod as well
	require.Len(t, s.claims(), 1)
}

// R-12; scenario 37.
func TestPodWaitsForItsTemplateAndKeepsItsClaimAfterAChange(t *testing.T) {
	s := begin(t)
	s.run()
	late := entries.Entry{Name: "net1", Template: "late"}
	pod := s.pod("web-0", "node", late, entries.Entry{Name: "net2", Template: "web"})
	s.event("TemplateMissing")
	s.told(pod, 1)
	template := s.template("late", ipam.IPClaimSpec{})
	c := s.get(s.told(pod, 2)["net1"])

	template.Spec.Metadata.Labels = map[string]string{"app": "changed"}
	require.NoError(t, world.Client.Update(t.Context(), template))
	s.template("last", ipam.IPClaimSpec{})
	s.told(s.pod("web-3", "node", entries.Entry{Name: "net1", Template: "last"}), 1) // the cache that has the last template also has the change
	before := c.ResourceVersion
	changed := s.get(s.told(s.pod("web-1", "node", late), 1)["net1"])
	require.Equal(t, "changed", changed.Labels["app"])
	require.NoError(t, world.Client.Delete(t.Context(), template))
	s.told(s.pod("web-2", "node", net1), 1)
	require.Equal(t, before, s.bound(c).ResourceVersion)
	require.Len(t, s.held(), 5)
}

//
func TestInvalidEntryIsReportedAndClaimsNothing(t *testing.T) {
	s := begin(t)
	s.run()
	pod := s.pod("web-0", "node", net1)
	s.told(pod, 1)
	bad := s.pod("web-1", "node")
	s.annotate(bad, ipam.ClaimsAnnotation, `[{"name": "net1", "template": "web", "colour": "red"}]`)
	s.event("InvalidClaims")
	require.Len(t, s.claims(), 1)
	s.annotate(bad, ipam.ClaimsAnnotation, `[{"name": "net1", "template": "web"}]`)
	s.told(bad, 1)
}

// a restarted controller finds the claims that the previous one created (scenario 58).
func TestRestartedControllerFindsItsClaims(t *testing.T) {
	s := begin(t)
	pod := s.pod("web-0", "node", net1)
	yes := true
	made := &ipam.IPClaim{ObjectMeta: meta.ObjectMeta{
		Namespace: s.name, Name: entries.ClaimName(pod.Name, pod.UID, "net1", 0), Annotations: map[string]string{ipam.EntryAnnotation: "net1"},
		OwnerReferences: []meta.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID, Controller: &yes}},
	}, Spec: ipam.IPClaimSpec{PoolRef: &ipam.PoolRef{Name: "pool"}, Address: "10.20.0.9"}}
	require.NoError(t, world.Client.Create(t.Context(), made))
	stop := s.run()
	require.Equal(t, "10.20.0.9", s.told(pod, 1)["net1"].Address)
	for _, next := range []string{"web-1", "web-2", "web-3"} {
		stop()
		stop = s.run()
		s.told(s.pod(next, "node", net1), 1)
	}
	require.Len(t, s.claims(), 4)
	require.Len(t, s.held(), 4)
}

// scenario 41.
func TestClaimWithATakenNameGetsTheNextNameAndKeepsIt(t *testing.T) {
	s := begin(t)
	pod := s.pod("web-0", "node", net1)
	occupied := s.claim(entries.ClaimName(pod.Name, pod.UID, "net1", 0), ipam.IPClaimSpec{})
	stop := s.run()
	s.bound(occupied)
	told := s.told(pod, 1)["net1"]
	require.Equal(t, entries.ClaimName(pod.Name, pod.UID, "net1", 1), told.Claim)
	require.NoError(t, world.Client.Delete(t.Context(), occupied))
	s.vanishes(occupied)
	stop()
	over := s.holdUp("/ipclaims") // the cache does not have the existing claims
	s.run()
	over()
	s.told(s.pod("web-1", "node", net1), 1)
	require.Equal(t, told, s.told(pod, 1)["net1"])
	require.Len(t, s.claims(), 2)

	stuck := s.pod("web-2", "")
	for attempt := range entries.Attempts {
		s.claim(entries.ClaimName(stuck.Name, stuck.UID, "net1", attempt), ipam.IPClaimSpec{})
	}
	s.annotate(stuck, ipam.ClaimsAnnotation, `[{"name": "net1", "template": "web"}]`)
	s.event("NameTaken")
}

//
func TestDelayedBindingWaitsForTheNode(t *testing.T) {
	s := begin(t)
	s.run()
	s.template("later", ipam.IPClaimSpec{BindingMode: ipam.BindingWaitForFirstConsumer, NodeRole: "node"})
	pod := s.pod("web-0", "", net1, entries.Entry{Name: "net2", Template: "later"})
	told := s.told(pod, 1)
	c := s.get(told["net2"])
	s.becomes(c, conditions.Reconciling, meta.ConditionTrue)
	require.Len(t, s.held(), 1)
	s.place(pod, s.name)
	s.eventually("the node is waited for", func() bool {
		require.NoError(t, world.Client.Get(t.Context(), client.ObjectKeyFromObject(c), c))
		return condition.FindStatusCondition(c.Status.Conditions, conditions.Ready).Message == "there is no node "+s.name
	})
	node := &core.Node{ObjectMeta: meta.ObjectMeta{Name: s.name}}
	require.NoError(t, world.Client.Create(t.Context(), node))
	s.annotate(pod, ipam.NetworkStatusAnnotation, "[]") // to have the claim reconciled again
	s.told(pod, 2)
	got, err := world.Carve.GetClaim(t.Context(), s.name, s.bound(c).Status.Claim.Name)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"node": string(node.UID)}, got.Spec.Scope)
}

// Scenario 19: a new pod has the same name as a pod that is still attached.
func TestNewPodOfTheSameNameGetsItsOwnClaim(t *testing.T) {
	s := begin(t)
	s.run()
	old := s.pod("web-0", "node", net1)
	before := s.get(s.told(old, 1)["net1"])
	s.remove(old)
	young := s.pod("web-0", "node", net1)
	after := s.get(s.told(young, 1)["net1"])
	require.NotEqual(t, before.Name, after.Name)
	s.vanishes(before)
	require.True(t, meta.IsControlledBy(s.bound(after), young))
	require.Equal(t, []string{after.Status.CIDR}, s.held())
}

// Scenario 67: after a restart the controller finishes a deletion that has begun.
func TestRestartedControllerFinishesDeletions(t *testing.T) {
	s := begin(t)
	stop := s.run()
	pod := s.pod("web-0", "node", net1)
	c := s.get(s.told(pod, 1)["net1"])
	stop()
	require.NoError(t, world.Client.Delete(t.Context(), c))
	s.remove(pod)
	s.run()
	s.vanishes(c)
	require.Empty(t, s.held())
}

// The finalizer never blocks for ever: a user can remove a claim after its server has gone for good.
func TestAbandonAnnotationDeletesAClaimDuringACarveOutage(t *testing.T) {
	s := begin(t)
	s.run()
	c := s.bound(s.claim("mine", ipam.IPClaimSpec{}))
	s.carve.cut.Store(true)
	s.annotate(c, ipam.AbandonAnnotation, "true")
	s.template("other", ipam.IPClaimSpec{})
	require.NoError(t, world.Client.Get(t.Context(), client.ObjectKeyFromObject(c), c), "as long as it is not deleted it stays")
	require.NoError(t, world.Client.Delete(t.Context(), c))
	s.vanishes(c)
	s.event("Abandoned")
	require.Len(t, s.held(), 1)
}
