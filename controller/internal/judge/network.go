package judge

import (
	"encoding/json"
	"net/netip"
	"strings"

	core "k8s.io/api/core/v1"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
)

// Listing is whether a pod's network status has a block.
type Listing int

// The listings.
const (
	// Unverified: there is no network status, or none that can be read, or the pod does not run yet.
	Unverified Listing = iota
	// Listed: it has an address of the block.
	Listed
	// Missing: it has none.
	Missing
)

// Network looks for a block in what a pod's network status says of an interface. Addresses are compared as addresses, however they are written. An
// interface counts where both sides name one. A status that is blank has no addresses.
func Network(pod *core.Pod, name, block string) Listing {
	held, err := netip.ParsePrefix(block)
	if err != nil || !NetworkIsSetUp(pod) {
		return Unverified
	}
	var networks []struct {
		Interface string   `json:"interface"`
		IPs       []string `json:"ips"`
	}
	if text := strings.TrimSpace(pod.Annotations[ipam.NetworkStatusAnnotation]); text != "" && json.Unmarshal([]byte(text), &networks) != nil {
		return Unverified
	}
	listing := Missing
	for _, network := range networks {
		for _, ip := range network.IPs {
			address, err := netip.ParseAddr(ip)
			if err != nil {
				return Unverified
			}
			same := network.Interface == "" || name == "" || network.Interface == name
			if same && held.Contains(address.Unmap().WithZone("")) {
				listing = Listed
			}
		}
	}
	return listing
}

// NetworkIsSetUp says whether a pod runs and has a network status, readable or not: it gets no other address any more.
func NetworkIsSetUp(pod *core.Pod) bool {
	_, told := pod.Annotations[ipam.NetworkStatusAnnotation]
	return told && pod.Status.Phase == core.PodRunning
}
