package capi

import (
	"context"
	"net/netip"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/carve-ipam/carve/controller/internal/claims"
)

// page limits the objects in one response to a list request.
const page = 500

// Shown returns the addresses in all IPAddresses from Carve's pools, with the UIDs of the claims that own them. A machine may use any such address.
func (r *Reconciler) Shown(ctx context.Context) (map[claims.Place][]types.UID, error) {
	shown, names := map[claims.Place][]types.UID{}, map[poolRef]string{}
	for more, at := true, ""; more; more = at != "" {
		all := new(unstructured.UnstructuredList)
		all.SetGroupVersionKind(addressKind)
		if err := r.Live.List(ctx, all, client.Limit(page), client.Continue(at)); err != nil {
			return nil, err
		}
		at = all.GetContinue()
		for i := range all.Items {
			a := &all.Items[i]
			address, err := netip.ParseAddr(text(a, "spec", "address"))
			ref, ours := poolOf(a)
			if err != nil || !ours {
				continue
			}
			name, known := names[ref]
			if !known {
				if name, err = r.called(ctx, ref); err != nil {
					return nil, err
				}
				names[ref] = name
			}
			place := claims.Place{Pool: name, Address: address.String()}
			if ref.kind == kindClass {
				place = claims.Place{Class: name, Address: address.String()}
			}
			var owner types.UID
			if by := meta.GetControllerOf(a); by != nil {
				owner = by.UID
			}
			shown[place] = append(shown[place], owner)
		}
	}
	return shown, nil
}

// called returns a class's name in Carve, or a pool's "project/name".
func (r *Reconciler) called(ctx context.Context, ref poolRef) (string, error) {
	found, err := r.find(ctx, ref)
	if err != nil {
		return "", err
	}
	name, project := ref.name, r.Project
	if found != nil {
		name = found.called
		if found.project != "" {
			project = found.project
		}
	}
	if ref.kind == kindClass {
		return name, nil
	}
	return project + "/" + name, nil
}

// forget removes the finalizer from an IPAddress that is being deleted and whose claim is gone. That happens if the API server deletes the claim while
// the controller creates the address, or if a user removes the claim's finalizer.
func (r *Reconciler) forget(ctx context.Context, name types.NamespacedName) error {
	a := of(addressKind)
	if err := r.Live.Get(ctx, name, a); err != nil {
		return client.IgnoreNotFound(err)
	}
	owner := meta.GetControllerOf(a)
	if a.GetDeletionTimestamp() == nil || owner == nil || owner.Kind != claimKind.Kind || owner.Name != name.Name {
		return nil
	}
	return r.unguard(ctx, a)
}
