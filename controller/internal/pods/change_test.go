package pods_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/entries"
)

// shown reads a pod and returns its current status.
func (s *story) shown(p *core.Pod) entries.Outcomes {
	s.Helper()
	require.NoError(s, world.Client.Get(s.Context(), client.ObjectKeyFromObject(p), p))
	return entries.OutcomesOf(p)
}

// When the next pod gets an address, the previous pod must no longer have it in its status.
func TestReleasedAddressLeavesThePodsStatus(t *testing.T) {
	for name, end := range map[string]func(*story, *core.Pod){
		"AnnotationRemoved": func(s *story, p *core.Pod) {
			require.NoError(s, world.Client.Get(s.Context(), client.ObjectKeyFromObject(p), p))
			was := p.DeepCopy()
			delete(p.Annotations, ipam.ClaimsAnnotation)
			require.NoError(s, world.Client.Patch(s.Context(), p, client.MergeFrom(was)))
		},
		"EntryOfAnotherClaim": func(s *story, p *core.Pod) {
			s.annotate(p, ipam.ClaimsAnnotation, `[{"name": "vip", "claim": "none"}]`)
		},
		"EntryOfAMissingTemplate": func(s *story, p *core.Pod) {
			s.annotate(p, ipam.ClaimsAnnotation, `[{"name": "vip", "claim": "none"}, {"name": "net9", "template": "none"}]`)
		},
		"Succeeded": func(s *story, p *core.Pod) { s.phase(p, core.PodSucceeded) },
		"Failed":    func(s *story, p *core.Pod) { s.phase(p, core.PodFailed) },
		"NodeLost": func(s *story, p *core.Pod) {
			s.status(p, func(st *core.PodStatus) { st.Phase, st.Reason = core.PodUnknown, "NodeLost" })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := begin(t)
			s.run()
			vip := s.bound(s.claim("vip", ipam.IPClaimSpec{}))
			before := s.pod("web-0", "node", shared)
			require.Equal(t, vip.Status.Address, s.told(before, 1)["vip"].Address)
			after := s.pod("web-1", "node", shared)
			s.event("ClaimFull")
			end(s, before)
			require.Equal(t, vip.Status.Address, s.told(after, 1)["vip"].Address)
			require.Empty(t, s.shown(before)["vip"].Address)
			s.told(before, 0)
		})
	}
}

// A finished pod does not keep its own address in its status either.
func TestFinishedPodLosesItsStatusAnnotation(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.run()
	pod := s.pod("web-0", "node", net1)
	own := s.get(s.told(pod, 1)["net1"])
	s.phase(pod, core.PodSucceeded)
	s.vanishes(own)
	require.Empty(t, s.shown(pod)["net1"].Address)
	s.eventually("the annotation is removed", func() bool { s.shown(pod); return pod.Annotations[ipam.StatusAnnotation] == "" })
}

func TestEntryChangedBeforeSchedulingReleasesItsClaim(t *testing.T) {
	for name, row := range map[string]struct {
		asks string
		want []string
	}{
		"Renamed":         {`[{"name": "net2", "template": "web"}]`, []string{"net2"}},
		"AnotherTemplate": {`[{"name": "net1", "template": "other"}]`, []string{"net1"}},
		"NamedClaim":      {`[{"name": "net1", "claim": "vip"}]`, nil}, // the pod has no node yet, so it is not attached
		"Dropped":         {`[]`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := begin(t)
			s.run()
			s.template("other", ipam.IPClaimSpec{})
			s.bound(s.claim("vip", ipam.IPClaimSpec{}))
			pod := s.pod("web-0", "", net1)
			old := s.get(s.told(pod, 1)["net1"])
			s.annotate(pod, ipam.ClaimsAnnotation, row.asks)
			s.eventually("the old claim is gone", func() bool {
				var now ipam.IPClaim
				err := world.Client.Get(t.Context(), client.ObjectKeyFromObject(old), &now)
				return client.IgnoreNotFound(err) == nil && (err != nil || now.UID != old.UID)
			})
			told := s.told(pod, len(row.want))
			for _, entry := range row.want {
				require.NotEqual(t, old.UID, s.get(told[entry]).UID)
			}
			s.eventually("no more is held", func() bool { return len(s.held()) == 1+len(row.want) })
		})
	}
}

// A pod that has a node may use its address. The controller therefore neither releases nor hides the address.
func TestEntryChangedOnAScheduledPodKeepsItsClaim(t *testing.T) {
	for name, row := range map[string]struct{ asks, entry string }{
		"Renamed":         {`[{"name": "net2", "template": "web"}]`, "net1"},
		"AnotherTemplate": {`[{"name": "net1", "template": "other"}]`, "net1"},
		"NamedClaim":      {`[{"name": "net1", "claim": "vip"}]`, ""},
		"Dropped":         {`[]`, "net1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := begin(t)
			s.run()
			s.template("other", ipam.IPClaimSpec{})
			s.bound(s.claim("vip", ipam.IPClaimSpec{}))
			pod := s.pod("web-0", "node", net1)
			old := s.get(s.told(pod, 1)["net1"])
			s.annotate(pod, ipam.ClaimsAnnotation, row.asks)
			s.event("ClaimKept")
			entry := row.entry
			if entry == "" {
				entry = old.Name
			}
			s.eventually("the pod is told that the claim is kept", func() bool { return s.shown(pod)[entry].Kept })
			require.Equal(t, old.Status.Address, s.shown(pod)[entry].Address)
			require.Equal(t, old.UID, s.bound(old).UID)
			s.remove(pod)
			s.vanishes(old)
			s.eventually("only the shared claim is held", func() bool { return len(s.held()) == 1 })
		})
	}
}
