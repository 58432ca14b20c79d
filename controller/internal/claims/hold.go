package claims

import (
	"context"
	"errors"
	"fmt"

	core "k8s.io/api/core/v1"
	api "k8s.io/apimachinery/pkg/api/errors"
	condition "k8s.io/apimachinery/pkg/api/meta"
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

// hold claims a block for a claim that a pod owns. If the claim has its block already, hold only compares the block with Carve.
func (r *Reconciler) hold(ctx context.Context, claim *ipam.IPClaim, user *meta.OwnerReference, pod *core.Pod) (ctrl.Result, error) {
	if err := r.guard(ctx, claim); err != nil {
		return ctrl.Result{}, err
	}
	if claim.Status.Claim != nil {
		_, err := r.compare(ctx, claim, user.UID)
		return ctrl.Result{}, err
	}
	if delayed(claim) && pod.Spec.NodeName == "" {
		return ctrl.Result{}, r.waits(ctx, claim, "the pod has no node yet")
	}
	node, err := r.nodeFor(ctx, claim, pod)
	if err != nil || node == "" && claim.Spec.NodeRole != "" {
		return ctrl.Result{RequeueAfter: maxRetryPause}, err
	}
	wanted := r.claimRequest(claim, node)
	wanted.Spec.WhenUnused = carve.WhenUnusedDelete
	wanted.Spec.Consumers = []carve.ClaimConsumer{r.Realm.Pod(types.NamespacedName{Namespace: claim.Namespace, Name: user.Name}, user.UID)}
	if claim.Annotations[ipam.InterfaceAnnotation] != "" {
		wanted.Spec.MaxConsumers = 2 // the pod, and the consumer that replaces the pod if the pod's network status lacks the address (realm.Yield)
	}
	result, err := r.take(ctx, claim, wanted)
	if err == nil && claim.Status.Claim != nil {
		telemetry.Bound(pod.CreationTimestamp.Time)
	}
	return result, err
}

// delayed reports whether a claim waits for its first consumer.
func delayed(claim *ipam.IPClaim) bool {
	return claim.Spec.BindingMode == ipam.BindingWaitForFirstConsumer
}

// nodeFor returns the UID of a pod's node, if the claim's scope contains the node. It asks the API server, because a new node may have the name of an
// old one. If the node does not exist, it returns no UID and the claim waits.
func (r *Reconciler) nodeFor(ctx context.Context, claim *ipam.IPClaim, pod *core.Pod) (types.UID, error) {
	if claim.Spec.NodeRole == "" {
		return "", nil
	}
	var nodes meta.PartialObjectMetadataList
	nodes.SetGroupVersionKind(core.SchemeGroupVersion.WithKind("NodeList"))
	if err := r.Live.List(ctx, &nodes, client.MatchingFields{"metadata.name": pod.Spec.NodeName}); err != nil {
		return "", err
	}
	for i := range nodes.Items {
		return nodes.Items[i].UID, nil
	}
	return "", r.waits(ctx, claim, "there is no node "+pod.Spec.NodeName)
}

// take claims a block, or finds the block that an earlier attempt claimed. The API server can delete an IPClaim although it has just accepted the
// finalizer. Then take releases the block.
func (r *Reconciler) take(ctx context.Context, claim *ipam.IPClaim, wanted carve.IPClaimPut) (ctrl.Result, error) {
	name := client.ObjectKeyFromObject(claim)
	r.begun.add(name, claim.UID, remoteName(claim), wanted.Spec.Consumers)
	held, err := r.claim(ctx, claim, wanted)
	if err != nil {
		return r.setRefused(ctx, claim, err)
	}
	r.begun.add(name, claim.UID, held.Metadata.Name, wanted.Spec.Consumers)
	r.short.remove(name)
	err = r.writeStatus(ctx, claim, held)
	switch {
	case api.IsNotFound(err):
		return ctrl.Result{}, r.abort(ctx, name, "")
	case err == nil:
		r.begun.remove(name)
	}
	return ctrl.Result{}, err
}

// writeStatus writes a claim's block into the IPClaim's status. If the claim is durable, it first writes the block into the metadata, because a
// backup does not keep the status.
func (r *Reconciler) writeStatus(ctx context.Context, claim *ipam.IPClaim, held *carve.IPClaim) error {
	if err := r.record(ctx, claim, held); err != nil {
		return err
	}
	return r.change(ctx, claim, func(s *ipam.IPClaimStatus) {
		s.Claim = &ipam.RemoteClaim{Project: r.Realm.Project, Name: held.Metadata.Name, UID: held.Metadata.UID}
		s.CIDR, s.Address, s.ClassName = held.Status.AllocatedCIDR, held.Status.Address, held.Status.ClassName
		s.Pool = held.Status.PoolRef.Project + "/" + held.Status.PoolRef.Name
		conditions.Done(&s.Conditions, claim.Generation, ipam.ReasonReconciled, messageHeld)
	})
}

const messageHeld = "the block is held"

// remotePrefix is the prefix of the claims' names in Carve.
const remotePrefix = "k8s-"

const kindIPClaim = "IPClaim"

// remoteName returns a claim's name in Carve. The name contains the IPClaim's UID, so that a later IPClaim with the same name gets another claim in
// Carve. If the IPClaim has taken over a block, the name contains the UID of that block's first IPClaim.
func remoteName(claim *ipam.IPClaim) string {
	if claim.Status.Claim != nil {
		return claim.Status.Claim.Name
	}
	return remotePrefix + string(claim.UID)
}

// claimRequest returns the request to Carve for a claim.
func (r *Reconciler) claimRequest(claim *ipam.IPClaim, node types.UID) carve.IPClaimPut {
	name := types.NamespacedName{Namespace: claim.Namespace, Name: claim.Name}
	spec := carve.IPClaimSpec{
		ClassName: string(claim.Spec.ClassName), CIDR: claim.Spec.CIDR, Address: claim.Spec.Address, MaxConsumers: int(claim.Spec.MaxConsumers),
		IPFamily: carve.IPFamily(claim.Spec.IPFamily), ReclaimPolicy: carve.ReclaimPolicy(claim.Spec.ReclaimPolicy),
		OwnerRef: &carve.OwnerRef{Kind: kindIPClaim, Name: realm.Shown(name), UID: string(claim.UID)},
	}
	if ref := claim.Spec.PoolRef; ref != nil {
		spec.PoolRef = &carve.Ref{Name: string(ref.Name), Project: string(ref.Project)}
	}
	if length := claim.Spec.PrefixLength; length != nil {
		spec.PrefixLength = int(*length)
	}
	if claim.Spec.Scope != nil || claim.Spec.NodeRole != "" {
		spec.Scope = map[string]string{}
		for role, value := range claim.Spec.Scope {
			spec.Scope[role] = string(value)
		}
		if role := claim.Spec.NodeRole; role != "" {
			spec.Scope[string(role)] = string(node)
		}
	}
	return carve.IPClaimPut{Spec: spec, Metadata: &carve.PutMetadata{
		Labels:      carve.Labels{realmLabel: r.Realm.Name},
		Annotations: r.holder(claim),
	}}
}

// setRefused reports in the status why a claim has no block. The controller retries after a minute, or when a release may have made room.
func (r *Reconciler) setRefused(ctx context.Context, claim *ipam.IPClaim, err error) (ctrl.Result, error) {
	if kept, ok := errors.AsType[*blockTakenError](err); ok {
		r.short.add(client.ObjectKeyFromObject(claim)) // a release may free the block
		return ctrl.Result{RequeueAfter: maxRetryPause}, r.setStalled(ctx, claim, ipam.ReasonError, "Claim", kept.Error())
	}
	problem, refusal := carve.AsProblem(err)
	if !refusal || problem.Status >= 500 || problem.Code == carve.ProblemCodeRateLimited {
		if told := r.waits(ctx, claim, "Carve does not respond"); told != nil {
			return ctrl.Result{}, told
		}
		return ctrl.Result{}, err
	}
	reason := ipam.ReasonError
	if carve.IsExhausted(err) {
		reason = ipam.ReasonPoolFull
		r.short.add(client.ObjectKeyFromObject(claim))
	}
	return ctrl.Result{RequeueAfter: maxRetryPause}, r.setStalled(ctx, claim, reason, "Claim", fmt.Sprintf("%s (%s)", problem.Detail, problem.Code))
}

// setStalled reports in the status why a claim fails. It records an event if the reason is new.
func (r *Reconciler) setStalled(ctx context.Context, claim *ipam.IPClaim, reason, action, message string) error {
	before := condition.FindStatusCondition(claim.Status.Conditions, conditions.Stalled)
	news := before == nil || before.Status != meta.ConditionTrue || before.Reason != reason
	err := r.change(ctx, claim, func(s *ipam.IPClaimStatus) { conditions.Stuck(&s.Conditions, claim.Generation, reason, message) })
	if err == nil && news {
		r.Events.Eventf(claim, nil, core.EventTypeWarning, reason, action, "%s", message)
	}
	return err
}
