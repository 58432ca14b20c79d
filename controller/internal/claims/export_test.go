package claims

import (
	"context"
	"time"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
)

// PauseBeforeNextLook assesses a pod that uses a claim, and returns the pause before the next look at the pod.
func (r *Reconciler) PauseBeforeNextLook(ctx context.Context, claim *ipam.IPClaim, user ipam.PodReference, by string) (time.Duration, error) {
	s, err := r.assessPod(ctx, claim, user, by)
	return s.again, err
}

// Observations returns the number of claims with an observation.
func (r *Reconciler) Observations() int { return len(r.seen.of) }
