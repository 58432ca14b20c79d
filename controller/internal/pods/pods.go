// Package pods creates the claims that pods request, and writes the outcome into an annotation on each pod.
package pods

import (
	"context"
	"errors"

	core "k8s.io/api/core/v1"
	api "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/claims"
	"github.com/carve-ipam/carve/controller/internal/entries"
	"github.com/carve-ipam/carve/controller/internal/podstate"
	"github.com/carve-ipam/carve/controller/patch"
)

// Reconciler creates the pods' claims. It keeps no state.
type Reconciler struct {
	// Client reads from the cache and writes to the API server.
	Client client.Client
	// Live reads from the API server. The reconciler creates a claim only after such a read.
	Live client.Reader
	// Judge has the options for the decision whether a pod still uses its claims.
	Judge podstate.Options
	// Events records events for users.
	Events events.EventRecorder
}

// Reconcile creates the claims that one pod requests.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var pod core.Pod
	if err := r.Client.Get(ctx, request.NamespacedName, &pod); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	v := visit{Reconciler: r, pod: &pod}
	err := v.run(ctx)
	if errors.Is(err, errAnother) || api.IsConflict(err) { // the cache was old; it will soon have the new state
		return ctrl.Result{RequeueAfter: soon}, nil
	}
	return ctrl.Result{}, err
}

// asks reports whether a pod requests claims and may get them. A pod that is being deleted or has finished gets no claims.
func (r *Reconciler) asks(pod *core.Pod) bool {
	verdict, _ := podstate.Assess(pod, pod.UID, r.Judge)
	return pod.Annotations[ipam.ClaimsAnnotation] != "" && pod.DeletionTimestamp == nil && verdict == podstate.Keep
}

// visit is one reconciliation of a pod.
type visit struct {
	*Reconciler
	pod *core.Pod
	// mine are the claims that the pod owns.
	mine []ipam.IPClaim
	// confirmed means that the pod was read from the API server.
	confirmed bool
}

// errAnother reports that the pod in the API server differs from the pod in the cache. It is another pod, or its request for claims has changed.
var errAnother = errors.New("the pod differs from the cached pod")

func (v *visit) run(ctx context.Context) error {
	verdict, _ := podstate.Assess(v.pod, v.pod.UID, v.Judge)
	switch {
	case verdict != podstate.Keep:
		return v.tell(ctx, nil) // the pod's blocks are released
	case v.pod.DeletionTimestamp != nil:
		return nil // the pod keeps its blocks, and gets no more
	}
	all, err := entries.Of(v.pod)
	if err != nil {
		v.warn("InvalidClaims", err.Error())
		return nil
	}
	if v.mine, err = v.owned(ctx); err != nil {
		return err
	}
	told, whole := entries.Outcomes{}, true
	var failed []error
	for _, e := range all {
		outcome, settled, err := v.outcome(ctx, e)
		if err != nil {
			failed = append(failed, err)
		}
		whole = whole && settled && err == nil
		if outcome.Claim != "" {
			told[e.Name] = outcome
		}
	}
	v.keep(told)
	if whole { // else the event of an unsettled claim reconciles the pod again
		failed = append(failed, v.tell(ctx, told))
	}
	return errors.Join(failed...)
}

// outcome gives a pod the claim of one entry and returns the outcome to write. settled is false if the outcome may change soon.
func (v *visit) outcome(ctx context.Context, e entries.Entry) (o entries.Outcome, settled bool, err error) {
	var claim *ipam.IPClaim
	if e.Template != "" {
		claim, err = v.own(ctx, e)
	} else {
		claim, err = v.named(ctx, e)
	}
	if errors.Is(err, errReleased) {
		return o, false, nil
	}
	if claim == nil || err != nil {
		if e.Template != "" { // the next attempt begins with this name
			o.Claim = entries.OutcomesOf(v.pod)[e.Name].Claim
		}
		return o, true, err
	}
	o.Claim = claim.Name
	if claim.Status.Claim != nil && v.uses(claim) {
		o.CIDR, o.Address = claim.Status.CIDR, claim.Status.Address
	}
	return o, len(claim.Status.Conditions) > 0, nil
}

// uses reports whether the pod may use a claim's block.
func (v *visit) uses(claim *ipam.IPClaim) bool {
	if user := claims.PodOf(claim); user != nil {
		return user.UID == v.pod.UID
	}
	for _, user := range claim.Status.ReservedFor {
		if user.UID == v.pod.UID {
			return true
		}
	}
	return false
}

// named returns a claim that the pod requests by name. The claims reconciler attaches the pod.
func (v *visit) named(ctx context.Context, e entries.Entry) (*ipam.IPClaim, error) {
	var claim ipam.IPClaim
	err := v.Client.Get(ctx, types.NamespacedName{Namespace: v.pod.Namespace, Name: e.Claim}, &claim)
	if api.IsNotFound(err) {
		v.warn("ClaimMissing", "entry "+e.Name+": there is no IPClaim "+e.Claim)
		return nil, nil //nolint:nilnil // the claim wakes the pod when it is there
	}
	if err != nil {
		return nil, err
	}
	user := claims.PodOf(&claim)
	switch {
	case user != nil && user.UID != v.pod.UID:
		v.warn("ClaimOfAnother", "entry "+e.Name+": IPClaim "+e.Claim+" belongs to pod "+user.Name)
		return nil, nil //nolint:nilnil // as above
	case user == nil && !v.uses(&claim) && len(claim.Status.ReservedFor) >= max(1, int(claim.Spec.MaxConsumers)):
		v.warn("ClaimFull", "entry "+e.Name+": IPClaim "+e.Claim+" has its maximum number of pods")
	}
	return &claim, nil
}

// tell writes the outcomes of all entries into the pod's annotation, if they have changed.
func (v *visit) tell(ctx context.Context, told entries.Outcomes) error {
	return client.IgnoreNotFound(patch.Change(ctx, v.Client, v.pod, func() {
		switch {
		case len(told) == 0:
			delete(v.pod.Annotations, ipam.StatusAnnotation)
		case v.pod.Annotations == nil:
			v.pod.Annotations = map[string]string{ipam.StatusAnnotation: told.String()}
		default:
			v.pod.Annotations[ipam.StatusAnnotation] = told.String()
		}
	}, patch.While("metadata", "annotations", ipam.ClaimsAnnotation), patch.While("status", "phase")))
}

// longestNote is the maximum length of an event's text, in bytes.
const longestNote = 1024

func (v *visit) warn(reason, note string) {
	v.Events.Eventf(v.pod, nil, core.EventTypeWarning, reason, "Claim", "%s", note[:min(len(note), longestNote)])
}
