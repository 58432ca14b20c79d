package claims

import (
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// observations has the times at which the controller first saw a pod's network status without the address of an IPClaim. An observation counts after
// a pause. A restart loses all observations, so the pause begins again.
type observations struct {
	mu sync.Mutex
	of map[types.NamespacedName]observed
}

// observed has the observations for one IPClaim, by the UIDs of its pods.
type observed struct {
	uid   types.UID
	first map[types.UID]time.Time
}

// wait records an observation, if it is new, and returns the time until it counts. It returns 0 once it counts.
func (o *observations) wait(claim types.NamespacedName, uid, pod types.UID, between time.Duration) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of == nil {
		o.of = map[types.NamespacedName]observed{}
	}
	if o.of[claim].uid != uid { // an earlier IPClaim had the name
		o.of[claim] = observed{uid, map[types.UID]time.Time{}}
	}
	since, seen := o.of[claim].first[pod]
	if !seen {
		o.of[claim].first[pod] = time.Now()
		return between
	}
	return max(0, between-time.Since(since))
}

// forget drops the observation of a pod, because it is no longer true.
func (o *observations) forget(claim types.NamespacedName, pod types.UID) {
	o.drop(claim, func(other types.UID) bool { return other == pod })
}

// keep drops the observations of all pods that do not use an IPClaim.
func (o *observations) keep(claim types.NamespacedName, users []types.UID) {
	o.drop(claim, func(pod types.UID) bool { return !slices.Contains(users, pod) })
}

// drop drops the observations of the pods that a function accepts.
func (o *observations) drop(claim types.NamespacedName, accepts func(pod types.UID) bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	first := o.of[claim].first
	maps.DeleteFunc(first, func(pod types.UID, _ time.Time) bool { return accepts(pod) })
	if len(first) == 0 {
		delete(o.of, claim)
	}
}
