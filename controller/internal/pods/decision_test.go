package pods_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/podstate"
)

// status changes a pod's status.
func (s *story) status(p *core.Pod, change func(*core.PodStatus)) {
	s.Helper()
	was := p.DeepCopy()
	change(&p.Status)
	require.NoError(s, world.Client.Status().Patch(s.Context(), p, client.MergeFrom(was)))
}

func tainted(s *story, p *core.Pod) {
	s.status(p, func(st *core.PodStatus) {
		st.Conditions = []core.PodCondition{{Type: core.DisruptionTarget, Status: core.ConditionTrue, Reason: "DeletionByTaintManager"}}
	})
}

func deleted(s *story, p *core.Pod) { require.NoError(s, world.Client.Delete(s.Context(), p)) }

// W-18 to W-23, R-19, scenario 60: each row of the decision table with both values of each option, for a pod's own claim and a shared one.
func TestEachRowOfTheDecisionTable(t *testing.T) {
	usual := podstate.Options{CleanupDisrupted: true, VerifyNetworkStatus: true}
	for name, row := range map[string]struct {
		end  func(*story, *core.Pod)
		by   podstate.Options
		want podstate.Verdict
	}{
		"removed":                      {end: func(s *story, p *core.Pod) { s.remove(p) }, by: usual, want: podstate.Gone},
		"replaced":                     {end: func(s *story, p *core.Pod) { s.remove(p); s.pod(p.Name, "node") }, by: usual, want: podstate.Gone},
		"succeeded":                    {end: func(s *story, p *core.Pod) { s.phase(p, core.PodSucceeded) }, by: usual, want: podstate.Gone},
		"failed":                       {end: func(s *story, p *core.Pod) { s.phase(p, core.PodFailed) }, by: usual, want: podstate.Gone},
		"tainted":                      {end: tainted, by: usual, want: podstate.Lost},
		"tainted, which is left":       {end: tainted, by: podstate.Options{}, want: podstate.Keep},
		"terminating":                  {end: deleted, by: usual, want: podstate.Keep},
		"terminating, which is enough": {end: deleted, by: podstate.Options{CleanupTerminating: true}, want: podstate.Lost},
		"its node is lost": {end: func(s *story, p *core.Pod) {
			s.status(p, func(st *core.PodStatus) { st.Phase, st.Reason = core.PodUnknown, "NodeLost" })
		}, by: usual, want: podstate.Lost},
		"unknown": {end: func(s *story, p *core.Pod) { s.phase(p, core.PodUnknown) }, by: usual, want: podstate.Keep},
		"pending": {end: func(s *story, p *core.Pod) { s.phase(p, core.PodPending) }, by: usual, want: podstate.Keep},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := begin(t)
			s.judge = row.by
			s.run()
			vip := s.bound(s.claim("vip", ipam.IPClaimSpec{}))
			pod := s.pod("web-0", "node", net1, shared)
			own := s.get(s.told(pod, 2)["net1"])
			uid := string(pod.UID)
			row.end(s, pod)
			if row.want == podstate.Keep {
				s.told(s.pod("web-1", "node", net1), 1)
				s.users(vip, pod)
				require.Equal(t, own.UID, s.bound(own).UID)
				require.Len(t, s.held(), 3)
				return
			}
			s.vanishes(own)
			s.users(vip)
			require.Equal(t, []string{vip.Status.CIDR}, s.held())
			ended, err := world.Carve.GetConsumer(t.Context(), s.name, s.name, uid)
			require.NoError(t, err)
			require.Equal(t, carve.IPConsumerPhaseEnded, ended.Status.Phase)
			reason := carve.IPConsumerStatusReason("Ended")
			if row.want == podstate.Lost {
				reason = "Expired"
			}
			require.Equal(t, reason, ended.Status.Reason)
		})
	}
}

// deleted before it got a node.
func TestPodDeletedBeforeSchedulingReleasesItsClaim(t *testing.T) {
	s := begin(t)
	s.run()
	pod := s.pod("web-0", "", net1)
	own := s.get(s.told(pod, 1)["net1"])
	finalizers := func(json string) { // the finalizer keeps the deleted pod for a while
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":`+json+`}}`))
		require.NoError(t, world.Client.Patch(t.Context(), pod, patch))
	}
	finalizers(`["example.com/later"]`)
	deleted(s, pod)
	s.vanishes(own)
	require.Empty(t, s.held())
	finalizers("null")
}

// Scenario 63: the replacement for a pod that was removed by force has another address at once, and the old address cools down.
func TestReplacementPodGetsAnotherAddressAtOnce(t *testing.T) {
	s := begin(t)
	_, err := world.Carve.CreatePool(t.Context(), s.name, carve.IPPoolCreate{
		Metadata: carve.CreateMetadata{Name: "cool"}, Spec: carve.IPPoolSpec{CIDR: "10.30.0.0/28", ReuseAfter: "1h"},
	})
	require.NoError(t, err)
	length := int32(32)
	require.NoError(t, world.Client.Create(t.Context(), &ipam.IPClaimTemplate{ObjectMeta: meta.ObjectMeta{Namespace: s.name, Name: "cool"},
		Spec: ipam.IPClaimTemplateSpec{Spec: ipam.IPClaimSpec{PoolRef: &ipam.PoolRef{Name: "cool"}, PrefixLength: &length}}}))
	s.run()
	cool := net1
	cool.Template = "cool"
	pod := s.pod("web-0", "node", cool)
	before := s.told(pod, 1)["net1"]
	deleted(s, pod)
	s.told(s.pod("web-1", "node", net1), 1)
	require.Contains(t, s.held(), before.CIDR, "it terminates")
	s.remove(pod)
	after := s.told(s.pod("web-0", "node", cool), 1)["net1"]
	require.NotEqual(t, before.Address, after.Address)
	s.vanishes(&ipam.IPClaim{ObjectMeta: meta.ObjectMeta{Namespace: s.name, Name: before.Claim}})
	require.NotEqual(t, before.Address, s.told(s.pod("web-2", "node", cool), 1)["net1"].Address)
}
