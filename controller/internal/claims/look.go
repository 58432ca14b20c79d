package claims

import (
	"context"
	"sync"
	"time"

	core "k8s.io/api/core/v1"
	api "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/judge"
)

// sight is what was seen of a pod that uses a claim.
type sight struct {
	pod     *core.Pod // nil where there is none of the name
	verdict judge.Verdict
	why     string
	// only says that the verdict is on this claim, and not on the pod.
	only bool
	// dropped says that the pod lives and does not ask for this claim any more.
	dropped bool
	// again is when to look again, if it is not clear yet.
	again time.Duration
}

// look asks what has become of a pod that uses a claim, by this interface. What would be released is looked up in the API server itself first: what
// is remembered may be older than the pod.
func (r *Reconciler) look(ctx context.Context, claim *ipam.IPClaim, user ipam.PodReference, by string) (sight, error) {
	var s sight
	for _, reader := range []client.Reader{r.Client, r.Live} {
		var err error
		if s.pod, err = r.podIn(ctx, reader, claim.Namespace, user.Name); err != nil {
			return sight{}, err
		}
		if s.verdict, s.why = judge.Pod(s.pod, user.UID, r.Judge); s.verdict == judge.Keep {
			break
		}
	}
	if s.verdict != judge.Keep || by == "" || !r.Judge.VerifyNetworkStatus {
		return s, nil
	}
	return r.lookForAddress(ctx, claim, s, by)
}

// podIn answers the pod of a name, or nil.
func (r *Reconciler) podIn(ctx context.Context, reader client.Reader, namespace, name string) (*core.Pod, error) {
	pod := new(core.Pod)
	err := reader.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, pod)
	if api.IsNotFound(err) {
		return nil, nil //nolint:nilnil // that there is none is what was asked
	}
	return pod, err
}

// lookForAddress takes a claim for lost of which the pod's network status has no address, twice.
func (r *Reconciler) lookForAddress(ctx context.Context, claim *ipam.IPClaim, s sight, by string) (sight, error) {
	key := string(claim.UID) + "/" + string(s.pod.UID)
	if judge.Network(s.pod, by, claim.Status.CIDR) != judge.Missing {
		r.seen.forget(key)
		return s, nil
	}
	if s.again = r.seen.wait(key, r.Between); s.again > 0 {
		return s, nil
	}
	pod, err := r.podIn(ctx, r.Live, claim.Namespace, s.pod.Name)
	if err != nil {
		return sight{}, err
	}
	if pod == nil || pod.UID != s.pod.UID {
		return s, nil // its end is on its way here
	}
	if judge.Network(pod, by, claim.Status.CIDR) != judge.Missing {
		r.seen.forget(key)
		return s, nil
	}
	s.verdict, s.why, s.only = judge.Lost, "the pod's network status does not have the address", true
	return s, nil
}

// observations are when something was first seen that counts when it is seen twice. Who forgets them looks twice again.
type observations struct {
	mu    sync.Mutex
	first map[string]time.Time
}

// wait answers how long to wait until something counts as seen twice, which it is now; 0 when it does.
func (o *observations) wait(key string, between time.Duration) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.first == nil {
		o.first = map[string]time.Time{}
	}
	since, seen := o.first[key]
	if !seen {
		since = time.Now()
		o.first[key] = since
		return between
	}
	return max(0, between-time.Since(since))
}

// forget says that it is not so any more.
func (o *observations) forget(key string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.first, key)
}
