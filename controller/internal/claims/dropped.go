package claims

import (
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/entries"
	"github.com/carve-ipam/carve/controller/internal/podstate"
	"github.com/carve-ipam/carve/controller/patch"
)

// MadeFor reports whether a pod's own claim was made for the current version of an entry in the pod's claims annotation.
func MadeFor(claim *ipam.IPClaim, e entries.Entry) bool {
	a := claim.Annotations
	if e.Template == "" || a[ipam.EntryAnnotation] != e.Name {
		return false
	}
	return a[ipam.TemplateAnnotation] == "" || a[ipam.TemplateAnnotation] == e.Template && a[ipam.InterfaceAnnotation] == e.Interface
}

// Dropped reports whether a pod's claims annotation no longer has the entry for which a claim was made. If the annotation is unreadable, the pod
// keeps all its claims.
func Dropped(pod client.Object, claim *ipam.IPClaim) bool {
	if claim.Annotations[ipam.EntryAnnotation] == "" {
		return false
	}
	all, err := entries.Of(pod)
	return err == nil && !slices.ContainsFunc(all, func(e entries.Entry) bool { return MadeFor(claim, e) })
}

// lookForEntry returns the verdict Gone if the pod no longer requests the claim and no network can use the block. If the claim has no block or the
// pod has no node, no network can use the block. A pod with a node keeps the block until the pod ends.
func (r *Reconciler) lookForEntry(ctx context.Context, claim *ipam.IPClaim, s podAssessment) (podAssessment, error) {
	if s.verdict != podstate.Keep || !Dropped(s.pod, claim) || s.pod.Spec.NodeName != "" && claim.Status.Claim != nil {
		return s, nil
	}
	pod, err := r.podIn(ctx, r.Live, claim.Namespace, s.pod.Name)
	if err != nil || pod == nil || pod.UID != s.pod.UID || !Dropped(pod, claim) {
		return s, err // without an error, the pod has changed, and an event for the pod reconciles the claim again
	}
	if pod.Spec.NodeName != "" {
		now := new(ipam.IPClaim)
		if err := r.Live.Get(ctx, client.ObjectKeyFromObject(claim), now); err != nil || now.UID != claim.UID || now.Status.Claim != nil {
			return s, client.IgnoreNotFound(err)
		}
	} else if err := entries.Withdraw(ctx, r.Client, pod, claim.Name, patch.While("spec", "nodeName")); err != nil {
		return s, err
	}
	s.pod, s.verdict, s.why, s.dropped = pod, podstate.Gone, "the pod no longer requests it", true
	return s, nil
}
