// Package capi implements Cluster API's contract for IPAM providers. For each IPAddressClaim whose pool is an IPPool or IPClass it creates an
// IPClaim, and an IPAddress with the claim's address. The IPClaim holds the address. This package keeps no state.
package capi

import (
	"context"
	"encoding/json"
	"net/netip"

	api "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
)

var (
	claimKind   = schema.GroupVersionKind{Group: "ipam.cluster.x-k8s.io", Version: "v1beta2", Kind: "IPAddressClaim"}
	addressKind = schema.GroupVersionKind{Group: "ipam.cluster.x-k8s.io", Version: "v1beta2", Kind: "IPAddress"}
	clusterKind = schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "Cluster"}
)

const (
	clusterLabel     = "cluster.x-k8s.io/cluster-name"
	pausedAnnotation = "cluster.x-k8s.io/paused"
	// finalizer keeps an IPAddressClaim and its IPAddress until the controller releases the address.
	finalizer = "ipam.carve.dev/cluster-api"

	kindPool  = "IPPool"
	kindClass = "IPClass"
)

// poolRef is a claim's reference to its pool.
type poolRef struct{ kind, name string }

func of(kind schema.GroupVersionKind) *unstructured.Unstructured {
	o := new(unstructured.Unstructured)
	o.SetGroupVersionKind(kind)
	return o
}

func text(o *unstructured.Unstructured, path ...string) string {
	value, _, _ := unstructured.NestedString(o.Object, path...)
	return value
}

// poolOf returns the pool that an IPAddressClaim or an IPAddress names. ours is true if the pool is an IPPool or an IPClass.
func poolOf(claim *unstructured.Unstructured) (ref poolRef, ours bool) {
	ref = poolRef{kind: text(claim, "spec", "poolRef", "kind"), name: text(claim, "spec", "poolRef", "name")}
	ours = text(claim, "spec", "poolRef", "apiGroup") == ipam.GroupVersion.Group && (ref.kind == kindPool || ref.kind == kindClass)
	return ref, ours
}

// pool is an IPPool or an IPClass.
type pool struct {
	object client.Object
	// called is the name in Carve. project is an IPPool's project if the pool exists in Carve, else "". v6 means that the addresses are IPv6.
	called  string
	project string
	v6      bool
	ready   bool
}

// find returns a pool, or nil if it does not exist.
func (r *Reconciler) find(ctx context.Context, ref poolRef) (*pool, error) {
	var p *pool
	var err error
	switch ref.kind {
	case kindPool:
		var o ipam.IPPool
		err = r.Client.Get(ctx, types.NamespacedName{Name: ref.name}, &o)
		p = &pool{object: &o, called: o.Called(), v6: v6(o.Status.CIDR), ready: o.Status.CIDR != ""}
		if remote := o.Mirror().Remote; remote != nil {
			p.project = remote.Project
		}
	default:
		var o ipam.IPClass
		err = r.Client.Get(ctx, types.NamespacedName{Name: ref.name}, &o)
		p = &pool{object: &o, called: o.Called(), v6: o.Status.IPFamily == "IPv6", ready: o.Status.IPFamily != ""}
	}
	if api.IsNotFound(err) {
		return nil, nil //nolint:nilnil // the caller asks whether it exists
	}
	return p, err
}

// paused reports whether a user has paused a claim or its cluster. If the cluster does not exist, the claim counts as paused, unless it is being
// deleted.
func (r *Reconciler) paused(ctx context.Context, claim *unstructured.Unstructured) (bool, error) {
	if _, said := claim.GetAnnotations()[pausedAnnotation]; said {
		return true, nil
	}
	name := text(claim, "spec", "clusterName")
	if name == "" {
		name = claim.GetLabels()[clusterLabel]
	}
	if name == "" {
		return false, nil
	}
	cluster := of(clusterKind)
	err := r.Live.Get(ctx, types.NamespacedName{Namespace: claim.GetNamespace(), Name: name}, cluster)
	if api.IsNotFound(err) {
		return claim.GetDeletionTimestamp() == nil, nil
	}
	paused, _, _ := unstructured.NestedBool(cluster.Object, "spec", "paused")
	return paused, err
}

// ownedBy reports whether a claim controls an object. It compares UIDs, because a later claim may have the same name.
func ownedBy(o client.Object, claim *unstructured.Unstructured) bool {
	owner := meta.GetControllerOf(o)
	return owner != nil && owner.UID == claim.GetUID()
}

// isOf reports whether an IPAddress names a claim and its pool.
func isOf(address, claim *unstructured.Unstructured) bool {
	const group, kind, name = "apiGroup", "kind", "name"
	for _, field := range []string{group, kind, name} {
		if text(address, "spec", "poolRef", field) != text(claim, "spec", "poolRef", field) {
			return false
		}
	}
	return text(address, "spec", "claimRef", name) == claim.GetName()
}

// former reports whether an object belonged to an earlier claim with the same name. The owner that controls the object is then an IPAddressClaim with
// this name and another UID. That claim is gone, because two IPAddressClaims cannot have the same name at the same time. An object without such an
// owner also counts, because a backup does not keep owners.
func former(o client.Object, claim *unstructured.Unstructured) bool {
	owner := meta.GetControllerOf(o)
	if owner == nil {
		return true
	}
	group, err := schema.ParseGroupVersion(owner.APIVersion)
	return err == nil && group.Group == claimKind.Group && owner.Kind == claimKind.Kind && owner.Name == claim.GetName() && owner.UID != claim.GetUID()
}

// owners returns owner references to the claim, and to the pool if p is not nil.
func owners(claim *unstructured.Unstructured, p *pool) []meta.OwnerReference {
	yes := true
	all := []meta.OwnerReference{{
		APIVersion: claimKind.GroupVersion().String(), Kind: claimKind.Kind, Name: claim.GetName(), UID: claim.GetUID(), Controller: &yes, BlockOwnerDeletion: &yes,
	}}
	if p != nil {
		all = append(all, meta.OwnerReference{
			APIVersion: ipam.GroupVersion.String(), Kind: text(claim, "spec", "poolRef", "kind"), Name: p.object.GetName(), UID: p.object.GetUID(),
		})
	}
	return all
}

// decode converts a value to another type through JSON.
func decode(from, to any) error {
	written, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(written, to)
}

func v6(block string) bool {
	p, err := netip.ParsePrefix(block)
	return err == nil && p.Addr().Is6()
}
