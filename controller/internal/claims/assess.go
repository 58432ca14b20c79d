package claims

import (
	"context"
	"time"

	core "k8s.io/api/core/v1"
	api "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/podstate"
)

// podAssessment describes a pod that uses a claim.
type podAssessment struct {
	pod     *core.Pod // nil if no pod has the name
	verdict podstate.Verdict
	why     string
	// only means that the verdict applies to this claim alone. The pod keeps its other claims.
	only bool
	// dropped means that the pod lives, but no longer requests this claim.
	dropped bool
	// again is the pause before the next check if the verdict is not final yet, else 0.
	again time.Duration
}

// assessPod judges whether a pod still uses a claim. by is the name of the pod's interface that has the address. assessPod reads the cache first. The
// cache may be older than the pod. If the verdict would release the claim, assessPod therefore reads the pod again, from the API server.
func (r *Reconciler) assessPod(ctx context.Context, claim *ipam.IPClaim, user ipam.PodReference, by string) (podAssessment, error) {
	var s podAssessment
	for _, reader := range []client.Reader{r.Client, r.Live} {
		var err error
		if s.pod, err = r.podIn(ctx, reader, claim.Namespace, user.Name); err != nil {
			return podAssessment{}, err
		}
		if s.verdict, s.why = podstate.Assess(s.pod, user.UID, r.Judge); s.verdict == podstate.Keep {
			break
		}
	}
	if s.verdict != podstate.Keep || by == "" || !r.Judge.VerifyNetworkStatus {
		r.seen.forget(client.ObjectKeyFromObject(claim), user.UID)
		return s, nil
	}
	return r.lookForAddress(ctx, claim, s, by)
}

// podIn returns the pod with a name, or nil if none exists.
func (r *Reconciler) podIn(ctx context.Context, reader client.Reader, namespace, name string) (*core.Pod, error) {
	pod := new(core.Pod)
	err := reader.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, pod)
	if api.IsNotFound(err) {
		return nil, nil //nolint:nilnil // the caller asks whether it exists
	}
	return pod, err
}

// lookForAddress returns the verdict Lost if the pod's network status lacks the claim's address at two reads. The second read goes to the API server.
func (r *Reconciler) lookForAddress(ctx context.Context, claim *ipam.IPClaim, s podAssessment, by string) (podAssessment, error) {
	name := client.ObjectKeyFromObject(claim)
	if podstate.Network(s.pod, by, claim.Status.CIDR) != podstate.Missing {
		r.seen.forget(name, s.pod.UID)
		return s, nil
	}
	if s.again = r.seen.wait(name, claim.UID, s.pod.UID, r.Between); s.again > 0 {
		return s, nil
	}
	pod, err := r.podIn(ctx, r.Live, claim.Namespace, s.pod.Name)
	if err != nil {
		return podAssessment{}, err
	}
	if pod == nil || pod.UID != s.pod.UID {
		return s, nil // the pod has ended, and the event for its end reconciles the claim again
	}
	if podstate.Network(pod, by, claim.Status.CIDR) != podstate.Missing {
		r.seen.forget(name, s.pod.UID)
		return s, nil
	}
	s.verdict, s.why, s.only = podstate.Lost, "the pod's network status does not have the address", true
	return s, nil
}
