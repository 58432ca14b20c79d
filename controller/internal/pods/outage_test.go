package pods_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/conditions"
	"github.com/carve-ipam/carve/controller/internal/entries"
	"github.com/carve-ipam/carve/controller/internal/podstate"
)

// W-18, R-20: while the cache lags, the controller treats no live pod as gone (scenario 56).
func TestLivePodKeepsItsClaimWhileTheCacheLags(t *testing.T) {
	s := begin(t)
	s.sweeps = 50 * time.Millisecond
	s.run()
	first := s.pod("web-0", "node", net1)
	s.told(first, 1)
	over := s.holdUp("/pods")
	young := s.pod("web-1", "node") // not in the cache
	yes := true
	c := s.claim("by-hand", ipam.IPClaimSpec{})
	owned := &ipam.IPClaim{ObjectMeta: meta.ObjectMeta{Namespace: s.name, Name: "owned", OwnerReferences: []meta.OwnerReference{
		{APIVersion: "v1", Kind: "Pod", Name: young.Name, UID: young.UID, Controller: &yes}}}, Spec: c.Spec}
	require.NoError(t, world.Client.Create(t.Context(), owned))
	s.bound(owned)
	s.remove(first) // still alive in the cache, which only delays its release
	before := s.renewed(first)
	s.eventually("renewed meanwhile", func() bool { return s.renewed(first).After(before) })
	require.Len(t, s.held(), 3)
	over()
	s.eventually("only what lives is held", func() bool { return len(s.held()) == 2 })
	require.ElementsMatch(t, []string{s.bound(c).Status.CIDR, s.bound(owned).Status.CIDR}, s.held())
}

// W-18: a sweep stops when a list fails (scenario 57).
func TestAPIServerOutageReleasesNoClaim(t *testing.T) {
	s := begin(t)
	s.sweeps = 20 * time.Millisecond
	s.run()
	kept, gone := s.pod("web-0", "node", net1), s.pod("web-1", "node", net1)
	s.told(kept, 1)
	s.told(gone, 1)
	s.cluster.cut.Store(true)
	s.remove(gone)
	before := s.renewed(kept)
	s.eventually("renewed meanwhile", func() bool { return s.renewed(kept).After(before) })
	require.Len(t, s.held(), 2)
	s.cluster.cut.Store(false)
	s.eventually("the other is released", func() bool { return len(s.held()) == 1 })
	s.told(kept, 1)
}

// renewed returns the time of a pod's last renewal.
func (s *story) renewed(p *core.Pod) time.Time {
	s.Helper()
	got, err := world.Carve.GetConsumer(s.Context(), s.name, s.name, string(p.UID))
	require.NoError(s, err)
	return got.Status.RenewedAt
}

// Scenario 57.
func TestCarveOutageReleasesNoClaimAndDelaysNewOnes(t *testing.T) {
	s := begin(t)
	s.run()
	kept, gone := s.pod("web-0", "node", net1), s.pod("web-1", "node", net1)
	s.told(kept, 1)
	leaves := s.get(s.told(gone, 1)["net1"])
	s.carve.cut.Store(true)
	s.remove(gone)
	c := s.becomes(s.claim("new", ipam.IPClaimSpec{}), conditions.Reconciling, meta.ConditionTrue)
	young := s.pod("web-2", "node", net1)
	require.Len(t, s.held(), 2)
	s.carve.cut.Store(false)
	s.bound(c)
	s.told(young, 1)
	s.vanishes(leaves)
	require.Len(t, s.held(), 3)
}

// Scenario 59: two controllers at once do no harm.
func TestTwoControllersMakeOneClaimForEachPod(t *testing.T) {
	s := begin(t)
	other := *s
	other.carve, other.cluster = &way{}, &way{}
	s.run()
	stop := other.run()
	var all []*core.Pod
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		all = append(all, s.pod(name, "node", net1))
	}
	for _, pod := range all {
		s.told(pod, 1)
	}
	require.Len(t, s.claims(), len(all))
	require.Len(t, s.held(), len(all))
	for _, pod := range all[1:] {
		s.remove(pod)
	}
	s.eventually("released once", func() bool { return len(s.held()) == 1 })
	stop()
	s.told(all[0], 1)
}

// TestControllerCutOffAtAnyWriteIsContinuedByTheNext cuts a controller off at each of its writes in turn, before or after the server carries the
// write out. The next controller always reaches the same state (scenario 58).
func TestControllerCutOffAtAnyWriteIsContinuedByTheNext(t *testing.T) {
	for _, after := range []bool{false, true} {
		for write := 1; ; write++ {
			s := begin(t)
			c := s.claim("vip", ipam.IPClaimSpec{MaxConsumers: 2})
			blown := s.cutAt(write, after)
			stop := s.run()
			pod := s.pod("web-0", "node", net1, shared)
			s.eventually("ended, or done", func() bool { return blown() || len(s.now(pod)) == 2 })
			if !blown() { // the controller makes fewer writes until the pod has all claims
				require.Greater(t, write, 5)
				stop()
				break
			}
			stop()
			s.mend()
			stop = s.run()
			told := s.told(pod, 2)
			require.Len(t, s.claims(), 2)
			require.ElementsMatch(t, []string{told["net1"].CIDR, told["vip"].CIDR}, s.held())
			require.Equal(t, 1, s.consumers(s.users(c, pod)))

			stop()
			s.mend()
			blown = s.cutAt(write, after)
			stop = s.run()
			s.remove(pod)
			s.eventually("ended, or done", func() bool { return blown() || len(s.claims()) == 1 })
			stop()
			s.mend()
			stop = s.run()
			s.users(c)
			s.eventually("only the claim of nobody is left", func() bool { return len(s.claims()) == 1 && len(s.held()) == 1 })
			require.Equal(t, 0, s.consumers(c))
			stop()
		}
	}
}

// now returns the addresses that a pod's status shows at this moment.
func (s *story) now(p *core.Pod) (known []string) {
	s.Helper()
	require.NoError(s, world.Client.Get(s.Context(), client.ObjectKeyFromObject(p), p))
	for name, o := range entries.OutcomesOf(p) {
		if o.Address != "" {
			known = append(known, name)
		}
	}
	return known
}

func TestReleaseRetriesThePodsOfAFullPool(t *testing.T) {
	s := begin(t)
	s.run()
	_, err := world.Carve.PutClaim(t.Context(), s.name, "all", carve.IPClaimPut{Spec: carve.IPClaimSpec{
		PoolRef: &carve.Ref{Name: "pool"}, CIDR: "10.20.0.0/28"}})
	require.NoError(t, err)
	pod := s.pod("web-0", "node", net1)
	s.event(ipam.ReasonPoolFull)
	begun := time.Now()
	require.NoError(t, world.Carve.Release(t.Context(), s.name, "all"))
	s.told(pod, 1)
	require.Less(t, time.Since(begun), 30*time.Second, "not only after a minute")
}

// W-24; scenario 61.
func TestClaimWhoseAddressIsMissingFromTheNetworkStatusIsLost(t *testing.T) {
	for name, verify := range map[string]bool{"verified": true, "not verified": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := begin(t)
			s.judge = podstate.Options{CleanupDisrupted: true, VerifyNetworkStatus: verify}
			s.run()
			byInterface := net1
			byInterface.Interface = "eth1"
			other := net1
			other.Name = "net2"
			pod := s.pod("web-0", "node", byInterface, other)
			told := s.told(pod, 2)
			c := s.get(told["net1"])
			s.annotate(pod, ipam.NetworkStatusAnnotation, `[{"interface": "eth1", "ips": ["`+told["net1"].Address+`"]}]`)
			s.told(s.pod("web-1", "node", net1), 1)
			s.annotate(pod, ipam.NetworkStatusAnnotation, `[{"interface": "eth1", "ips": ["10.9.9.9"]}]`)
			if !verify {
				s.told(s.pod("web-2", "node", net1), 1)
				require.Equal(t, c.ResourceVersion, s.bound(c).ResourceVersion)
				return
			}
			s.vanishes(c)
			s.event("NetworkIsSetUp")
			require.NotContains(t, s.held(), told["net1"].CIDR)
			require.Contains(t, s.held(), told["net2"].CIDR, "what else the pod uses stays")
			next := s.told(s.pod("web-2", "node", net1), 1)["net1"]
			require.NotEqual(t, told["net1"].CIDR, next.CIDR, "it cools down")
		})
	}
}

// W-24: the claim has several pods, and the controller detaches only this one.
func TestAPodWithoutTheAddressIsDetached(t *testing.T) {
	s := begin(t)
	s.run()
	entry := shared
	entry.Interface = "eth1"
	c := s.bound(s.claim("vip", ipam.IPClaimSpec{MaxConsumers: 2}))
	has, misses := s.pod("web-0", "node", entry), s.pod("web-1", "node", entry)
	s.users(c, has, misses)
	s.annotate(has, ipam.NetworkStatusAnnotation, `[{"interface": "eth1", "ips": ["`+c.Status.Address+`"]}]`)
	s.annotate(misses, ipam.NetworkStatusAnnotation, ` `)
	s.users(c, has)
	require.Len(t, s.held(), 1)
	s.annotate(misses, ipam.NetworkStatusAnnotation, `[{"ips": ["`+c.Status.Address+`"]}]`)
	s.users(c, has, misses)
}
