package claims

import (
	"context"
	"fmt"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/conditions"
	"github.com/carve-ipam/carve/controller/internal/realm"
	"github.com/carve-ipam/carve/controller/internal/telemetry"
)

// hold has Carve hold a block for a claim. One that has its block is left alone, unless somebody asks whether it has it still.
func (r *Reconciler) hold(ctx context.Context, claim *ipam.IPClaim, user *meta.OwnerReference) (ctrl.Result, error) {
	if err := r.guard(ctx, claim); err != nil {
		return ctrl.Result{}, err
	}
	if claim.Status.Claim != nil {
		return ctrl.Result{}, r.compare(ctx, claim)
	}
	put, err := r.Realm.Carve.PutClaimWithResponse(ctx, r.Realm.Project, remoteName(claim), nil, r.wanted(claim, user))
	if err != nil {
		return ctrl.Result{}, r.refused(ctx, claim, err)
	}
	held := put.JSON201
	if held == nil {
		held = put.JSON200
	}
	err = r.change(ctx, claim, func(s *ipam.IPClaimStatus) {
		s.Claim = &ipam.RemoteClaim{Project: r.Realm.Project, Name: held.Metadata.Name, UID: held.Metadata.UID}
		s.CIDR, s.Address, s.ClassName = held.Status.AllocatedCIDR, held.Status.Address, held.Status.ClassName
		s.Pool = held.Status.PoolRef.Project + "/" + held.Status.PoolRef.Name
		conditions.Done(&s.Conditions, claim.Generation, ipam.ReasonReconciled, "the block is held")
	})
	if err == nil && user != nil {
		r.timed(ctx, claim.Namespace, user)
	}
	return ctrl.Result{}, err
}

// timed notes how long a pod has waited for its block.
func (r *Reconciler) timed(ctx context.Context, namespace string, user *meta.OwnerReference) {
	var pod core.Pod
	if r.Client.Get(ctx, types.NamespacedName{Namespace: namespace, Name: user.Name}, &pod) == nil && pod.UID == user.UID {
		telemetry.Bound(pod.CreationTimestamp.Time)
	}
}

// remoteName is what a claim is called in Carve: by its UID, so that what has its name later is another claim there.
func remoteName(claim *ipam.IPClaim) string { return "k8s-" + string(claim.UID) }

// wanted is a claim in the words of Carve. What a pod uses is held with the pod as its consumer from the first moment on, and no longer than it.
func (r *Reconciler) wanted(claim *ipam.IPClaim, user *meta.OwnerReference) carve.IPClaimPut {
	name := types.NamespacedName{Namespace: claim.Namespace, Name: claim.Name}
	spec := carve.IPClaimSpec{
		ClassName: string(claim.Spec.ClassName), CIDR: claim.Spec.CIDR, Address: claim.Spec.Address,
		IPFamily: carve.IPFamily(claim.Spec.IPFamily), ReclaimPolicy: carve.ReclaimPolicy(claim.Spec.ReclaimPolicy),
		OwnerRef: &carve.OwnerRef{Kind: "IPClaim", Name: realm.Shown(name), UID: string(claim.UID)},
	}
	if ref := claim.Spec.PoolRef; ref != nil {
		spec.PoolRef = &carve.Ref{Name: string(ref.Name), Project: string(ref.Project)}
	}
	if length := claim.Spec.PrefixLength; length != nil {
		n := int(*length)
		spec.PrefixLength = &n
	}
	if claim.Spec.Scope != nil {
		spec.Scope = map[string]string{}
		for role, value := range claim.Spec.Scope {
			spec.Scope[role] = string(value)
		}
	}
	if user != nil {
		spec.WhenUnused = carve.WhenUnusedDelete
		spec.Consumers = []carve.ClaimConsumer{r.Realm.Pod(types.NamespacedName{Namespace: claim.Namespace, Name: user.Name}, user.UID)}
	}
	return carve.IPClaimPut{Spec: spec, Metadata: &carve.PutMetadata{
		Labels:      carve.Labels{realmLabel: r.Realm.Name},
		Annotations: carve.Annotations{namespaceAnnotation: claim.Namespace, nameAnnotation: claim.Name},
	}}
}

// What Carve's claims say of the IPClaims that they are of.
const (
	realmLabel          = "ipam.carve.dev/realm"
	namespaceAnnotation = "ipam.carve.dev/namespace"
	nameAnnotation      = "ipam.carve.dev/name"
)

// refused shows why there is no block. The error is answered as well, so that it is tried again, each time later.
func (r *Reconciler) refused(ctx context.Context, claim *ipam.IPClaim, err error) error {
	problem, refusal := carve.AsProblem(err)
	if !refusal {
		if told := r.waits(ctx, claim, "Carve does not answer"); told != nil {
			return told
		}
		return err
	}
	reason := ipam.ReasonError
	if carve.IsExhausted(err) {
		reason = ipam.ReasonPoolFull
	}
	told := r.change(ctx, claim, func(s *ipam.IPClaimStatus) {
		conditions.Stuck(&s.Conditions, claim.Generation, reason, fmt.Sprintf("%s (%s)", problem.Detail, problem.Code))
	})
	if told != nil {
		return told
	}
	r.Events.Eventf(claim, nil, core.EventTypeWarning, reason, "Claim", "%s (%s)", problem.Detail, problem.Code)
	return err
}

// compare shows whether Carve holds what the status says. What has been taken away there is not taken again: somebody has decided it, and the block may
// be another's.
func (r *Reconciler) compare(ctx context.Context, claim *ipam.IPClaim) error {
	got, err := r.Realm.Carve.GetClaimWithResponse(ctx, claim.Status.Claim.Project, claim.Status.Claim.Name, nil)
	switch {
	case carve.IsNotFound(err):
		return r.drifted(ctx, claim, "the claim was released in Carve; delete the IPClaim, and make another for another block")
	case err != nil:
		return err
	case got.JSON200.Metadata.UID != claim.Status.Claim.UID:
		return r.drifted(ctx, claim, "the claim was replaced in Carve by another of its name; delete the IPClaim, and make another")
	}
	return r.change(ctx, claim, func(s *ipam.IPClaimStatus) {
		conditions.Done(&s.Conditions, claim.Generation, ipam.ReasonReconciled, "the block is held")
	})
}

func (r *Reconciler) drifted(ctx context.Context, claim *ipam.IPClaim, message string) error {
	r.Events.Eventf(claim, nil, core.EventTypeWarning, ipam.ReasonError, "Compare", "%s", message)
	return r.change(ctx, claim, func(s *ipam.IPClaimStatus) {
		conditions.Stuck(&s.Conditions, claim.Generation, ipam.ReasonError, message)
	})
}

func unchanged(before, after client.Object) bool { return equality.Semantic.DeepEqual(before, after) }
