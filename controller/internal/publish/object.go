package publish

import (
	"net"
	"net/netip"
	"strconv"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
)

// What can be written to.
const (
	kindConfigMap = "ConfigMap"
	kindSecret    = "Secret"
)

// empty is an object with a name and nothing else; nil for a kind that is not written to.
func empty(kind, namespace, name string) client.Object {
	metadata := meta.ObjectMeta{Namespace: namespace, Name: name}
	switch kind {
	case kindConfigMap:
		return &core.ConfigMap{ObjectMeta: metadata}
	case kindSecret:
		return &core.Secret{ObjectMeta: metadata, Type: core.SecretTypeOpaque}
	default:
		return nil
	}
}

// ownedBy has an object go with its claim. It holds the claim's deletion up in no way, which would need a right of its own.
func ownedBy(claim *ipam.IPClaim) meta.OwnerReference {
	yes := true
	return meta.OwnerReference{APIVersion: ipam.GroupVersion.String(), Kind: "IPClaim", Name: claim.Name, UID: claim.UID, Controller: &yes}
}

// fill makes facts the whole content of an object.
func fill(object client.Object, facts map[string]string) {
	switch o := object.(type) {
	case *core.ConfigMap:
		o.Data, o.BinaryData = facts, nil
	case *core.Secret:
		o.Data = map[string][]byte{}
		for key, value := range facts {
			o.Data[key] = []byte(value)
		}
	}
}

// facts are what a claim's block is, for programs that read files or the environment. Where to is no fact of the block: Carve knows no gateways.
func facts(claim *ipam.IPClaim) map[string]string {
	all := map[string]string{"cidr": claim.Status.CIDR, "pool": claim.Status.Pool}
	if claim.Status.Address != "" {
		all["address"] = claim.Status.Address
	}
	if claim.Status.ClassName != "" {
		all["className"] = claim.Status.ClassName
	}
	block, err := netip.ParsePrefix(claim.Status.CIDR)
	if err != nil {
		return all
	}
	all["prefixLength"] = strconv.Itoa(block.Bits())
	if all["ipFamily"] = "IPv6"; block.Addr().Is4() {
		const bits = 32
		all["ipFamily"], all["netmask"] = "IPv4", net.IP(net.CIDRMask(block.Bits(), bits)).String()
	}
	return all
}
