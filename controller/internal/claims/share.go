package claims

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/entries"
	"github.com/carve-ipam/carve/controller/internal/podstate"
)

// share reconciles a claim that no pod owns. Pods may use such a claim by name, and leave it when they end.
func (r *Reconciler) share(ctx context.Context, claim *ipam.IPClaim) (ctrl.Result, error) {
	kept, pause, err := r.users(ctx, claim)
	if err != nil {
		return ctrl.Result{}, err
	}
	if !claim.DeletionTimestamp.IsZero() { // no further pod may use the claim
		if err := r.reserve(ctx, claim, kept); err != nil {
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
		result, err := r.release(ctx, claim)
		return withinPause(result, pause), err
	}
	if err := r.guard(ctx, claim); err != nil {
		return ctrl.Result{}, err
	}
	asking, err := r.asking(ctx, claim, kept)
	if err != nil {
		return ctrl.Result{}, err
	}
	if claim.Status.Claim != nil && delayed(claim) && len(kept) == 0 {
		if err := r.unbind(ctx, claim); err != nil {
			return ctrl.Result{}, err
		}
		pause = earlier(pause, recheckAfter) // a lost pod's consumer may keep the block for some seconds
	}
	var result ctrl.Result
	if claim.Status.Claim == nil {
		if result, err = r.bind(ctx, claim, asking); err != nil || claim.Status.Claim == nil {
			return result, errors.Join(err, r.reserve(ctx, claim, kept))
		}
	} else if held, err := r.compare(ctx, claim, uidsOf(kept)...); err != nil || !held {
		return withinPause(result, pause), errors.Join(err, r.reserve(ctx, claim, kept))
	}
	for _, pod := range asking {
		in, err := r.attach(ctx, claim, pod)
		if err != nil {
			return ctrl.Result{}, errors.Join(err, r.reserve(ctx, claim, kept))
		}
		if in {
			kept = append(kept, ipam.PodReference{Name: pod.Name, UID: pod.UID})
		} else {
			pause = earlier(pause, maxRetryPause)
		}
	}
	return withinPause(result, pause), r.reserve(ctx, claim, kept)
}

func uidsOf(pods []ipam.PodReference) (uids []types.UID) {
	for _, p := range pods {
		uids = append(uids, p.UID)
	}
	return uids
}

// users returns the pods in a claim's status that still use the claim. It detaches or ends all other pods in Carve.
func (r *Reconciler) users(ctx context.Context, claim *ipam.IPClaim) (kept []ipam.PodReference, pause time.Duration, err error) {
	for _, user := range claim.Status.ReservedFor {
		entry, asked := entries.Entry{}, true
		remembered, err := r.podIn(ctx, r.Client, claim.Namespace, user.Name)
		if err != nil {
			return nil, 0, err
		}
		if remembered != nil && remembered.UID == user.UID {
			entry, asked = askedFor(remembered, claim.Name)
		}
		s, err := r.assessPod(ctx, claim, user, entry.Interface)
		if err != nil {
			return nil, 0, err
		}
		pause = earlier(pause, s.again)
		switch {
		case s.only || s.verdict == podstate.Keep && !asked:
			err = r.detach(ctx, claim, user)
		case s.verdict != podstate.Keep:
			err = r.releaseFromPod(ctx, claim, user, s)
		default:
			kept = append(kept, user)
			continue
		}
		if err != nil && !carve.IsNotFound(err) {
			return nil, 0, err
		}
		if s.why != "" {
			r.Events.Eventf(claim, nil, core.EventTypeNormal, "Detached", "Detach", "pod %s: %s", user.Name, s.why)
		}
	}
	return kept, pause, nil
}

// earlier returns the shorter pause. A pause of 0 counts as not set.
func earlier(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// askedFor returns the entry by which a pod requests a claim. A pod with an unreadable annotation keeps its claims.
func askedFor(pod *core.Pod, claim string) (entries.Entry, bool) {
	all, err := entries.Of(pod)
	if err != nil {
		return entries.Entry{}, true
	}
	for _, e := range all {
		if e.Claim == claim {
			return e, true
		}
	}
	return entries.Entry{}, false
}

// asking returns the pods to attach to a claim: live pods that have a node and request the claim. The oldest come first. It returns no more pods than
// MaxConsumers permits.
func (r *Reconciler) asking(ctx context.Context, claim *ipam.IPClaim, kept []ipam.PodReference) ([]*core.Pod, error) {
	var pods core.PodList
	if err := r.Client.List(ctx, &pods, client.InNamespace(claim.Namespace), client.MatchingFields{ByClaim: claim.Name}); err != nil {
		return nil, err
	}
	var asking []*core.Pod
	for i := range pods.Items {
		pod := &pods.Items[i]
		in := slices.ContainsFunc(kept, func(user ipam.PodReference) bool { return user.UID == pod.UID })
		if in || pod.Spec.NodeName == "" || pod.DeletionTimestamp != nil {
			continue
		}
		entry, _ := askedFor(pod, claim.Name)
		if verdict, _ := podstate.Assess(pod, pod.UID, r.Judge); verdict != podstate.Keep {
			continue
		}
		if r.Judge.VerifyNetworkStatus && entry.Interface != "" && podstate.Network(pod, entry.Interface, claim.Status.CIDR) == podstate.Missing {
			continue
		}
		asking = append(asking, pod)
	}
	slices.SortFunc(asking, func(a, b *core.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	room := max(0, max(1, int(claim.Spec.MaxConsumers))-len(kept))
	return asking[:min(room, len(asking))], nil
}

// bind claims a block for a claim, unless the claim waits for its first consumer.
func (r *Reconciler) bind(ctx context.Context, claim *ipam.IPClaim, asking []*core.Pod) (ctrl.Result, error) {
	if !delayed(claim) {
		return r.take(ctx, claim, r.claimRequest(claim, ""))
	}
	if len(asking) == 0 {
		return ctrl.Result{}, r.waits(ctx, claim, "no pod with a node requests the claim yet")
	}
	first := asking[0]
	node, err := r.nodeFor(ctx, claim, first)
	if err != nil || node == "" && claim.Spec.NodeRole != "" {
		return ctrl.Result{RequeueAfter: maxRetryPause}, err
	}
	wanted := r.claimRequest(claim, node)
	wanted.Spec.WhenUnused = carve.WhenUnusedDelete
	wanted.Spec.Consumers = []carve.ClaimConsumer{r.Realm.Pod(client.ObjectKeyFromObject(first), first.UID)}
	return r.take(ctx, claim, wanted)
}

// unbind removes a block from the status after Carve has released it with its last consumer.
func (r *Reconciler) unbind(ctx context.Context, claim *ipam.IPClaim) error {
	_, err := r.Realm.Carve.GetClaim(ctx, claim.Status.Claim.Project, claim.Status.Claim.Name)
	if !carve.IsNotFound(err) {
		return err
	}
	return r.change(ctx, claim, func(s *ipam.IPClaimStatus) {
		s.Claim, s.CIDR, s.Address, s.Pool, s.ClassName, s.ReservedFor = nil, "", "", "", "", nil
	})
}

// attach makes a pod a consumer of a claim. It returns false if Carve refuses the pod.
func (r *Reconciler) attach(ctx context.Context, claim *ipam.IPClaim, pod *core.Pod) (bool, error) {
	err := r.Realm.Attach(ctx, remoteName(claim), client.ObjectKeyFromObject(pod), pod.UID)
	switch {
	case errors.Is(err, carve.ProblemCodeConsumerEnded), errors.Is(err, carve.ProblemCodeTooManyConsumers):
		r.Events.Eventf(pod, claim, core.EventTypeWarning, "NotAttached", "Attach", "%v", err)
		return false, nil
	case err != nil:
		return false, err
	}
	return true, nil
}

// reserve writes a claim's users into its status.
func (r *Reconciler) reserve(ctx context.Context, claim *ipam.IPClaim, users []ipam.PodReference) error {
	err := r.change(ctx, claim, func(s *ipam.IPClaimStatus) { s.ReservedFor = users })
	if err == nil {
		r.seen.keep(client.ObjectKeyFromObject(claim), uidsOf(users))
	}
	return err
}
