package pods_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
)

// TestPodThatEndsBeforeTheCacheListsItIsDetached delays the watch of IPClaims. The controller sees the end of the pod while its cache has the
// claim without the pod. No sweep runs within the test.
func TestPodThatEndsBeforeTheCacheListsItIsDetached(t *testing.T) {
	s := begin(t)
	s.run()
	stays := s.pod("web-0", "node", shared)
	c := s.bound(s.claim("vip", ipam.IPClaimSpec{MaxConsumers: 2}))
	s.told(stays, 1) // the cache has the claim's last status
	over := s.holdUp("/ipclaims")
	pod := s.pod("web-1", "node", shared)
	s.users(c, stays, pod)
	s.remove(pod)
	s.pod("web-2", "node", net1) // pod events come in order: when this pod has its claim, the controller has seen the end of the other
	s.eventually("the controller has made the claim of the next pod", func() bool { return len(s.claims()) == 2 })
	over()
	s.users(c, stays)
	require.Equal(t, 1, s.consumers(c))
}
