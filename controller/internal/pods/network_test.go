package pods_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/entries"
)

// On a real node Multus writes the network status first. Afterwards the kubelet reports that the pod runs.
func TestClaimMissingFromTheNetworkStatusIsLostOnceThePodRuns(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.run()
	vip := s.bound(s.claim("vip", ipam.IPClaimSpec{}))
	pod := s.pod("web-0", "", entries.Entry{Name: "net1", Template: "web", Interface: "net1"}, entries.Entry{Name: "vip", Claim: "vip", Interface: "net2"},
		entries.Entry{Name: "net3", Template: "web", Interface: "net3"})
	s.place(pod, "node")
	told := s.told(pod, 3)
	own, kept := s.get(told["net1"]), s.get(told["net3"])
	s.annotate(pod, ipam.NetworkStatusAnnotation, `[{"interface": "net1", "ips": ["192.0.2.1"]}, {"interface": "net3", "ips": ["`+kept.Status.Address+`"]}]`)
	s.users(vip, pod)
	s.phase(pod, core.PodRunning)
	s.vanishes(own)
	s.users(vip)
	require.Equal(t, kept.Status.Address, s.told(pod, 1)["net3"].Address)
	require.Equal(t, kept.UID, s.bound(kept).UID)
}
