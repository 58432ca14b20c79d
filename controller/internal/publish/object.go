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

// Object kinds that may receive a block.
const (
	kindConfigMap = "ConfigMap"
	kindSecret    = "Secret"
)

// empty returns an object with only a name. It returns nil for a kind that cannot receive a block.
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

// ownedBy returns an owner reference that deletes an object with its claim. It does not block the claim's deletion, because that would require
// another permission.
func ownedBy(claim *ipam.IPClaim) meta.OwnerReference {
	yes := true
	return meta.OwnerReference{APIVersion: ipam.GroupVersion.String(), Kind: "IPClaim", Name: claim.Name, UID: claim.UID, Controller: &yes}
}

// fill replaces an object's content by facts.
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

// facts returns the properties of a claim's block, for programs that read files or the environment. There is no gateway, because Carve does not know
// gateways.
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
