package podstate

import (
	"encoding/json"
	"net/netip"
	"strings"

	core "k8s.io/api/core/v1"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
)

// Listing is the result of a search for a block in a pod's network status.
type Listing int

// The listings.
const (
	// Unverified means that the pod does not run, or that its network status is missing or unreadable.
	Unverified Listing = iota
	// Listed means that the status has an address in the block.
	Listed
	// Missing means that the status has no address in the block.
	Missing
)

// Network searches a pod's network status for an address of a block on an interface. It compares parsed addresses, so different notations of an
// address are equal. It compares interfaces only if name and the network status both give one. A blank status has no addresses.
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

// NetworkIsSetUp reports whether a pod runs and has a network status, readable or not. Such a pod gets no further address.
func NetworkIsSetUp(pod *core.Pod) bool {
	_, told := pod.Annotations[ipam.NetworkStatusAnnotation]
	return told && pod.Status.Phase == core.PodRunning
}
