// Package podstate decides whether a pod still uses its claims. The verdict depends only on the given objects and options.
package podstate

import (
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Verdict decides on a pod's claims.
type Verdict int

// The verdicts.
const (
	// Keep means that the pod uses its claims, or may use them.
	Keep Verdict = iota
	// Gone means that the pod uses no claim, and will never use one again.
	Gone
	// Lost means that the pod counts as gone, although it may still run. The pod's blocks cool down before other claims get them.
	Lost
)

func (v Verdict) String() string { return [...]string{"Keep", "Gone", "Lost"}[v] }

// Options are the operator's settings.
type Options struct {
	// CleanupTerminating releases claims when the deletion of a pod begins, instead of when it ends.
	CleanupTerminating bool
	// CleanupDisrupted releases claims when the taint manager has decided to delete a pod.
	CleanupDisrupted bool
	// VerifyNetworkStatus releases a claim if the pod's network status lacks its address.
	VerifyNetworkStatus bool
}

// reasonNodeLost is a pod's status reason while its node does not respond.
const reasonNodeLost = "NodeLost"

// Assess judges whether the pod with a UID still uses its claims. pod is the current pod with that pod's name, or nil. Pass nil only if a read from
// the API server, not from the cache, has found no pod.
func Assess(pod *core.Pod, uid types.UID, o Options) (verdict Verdict, why string) {
	switch {
	case pod == nil:
		return Gone, "the pod does not exist"
	case pod.UID != uid:
		return Gone, "another pod has the name"
	case pod.Status.Phase == core.PodSucceeded || pod.Status.Phase == core.PodFailed:
		return Gone, "the pod has finished"
	case o.CleanupDisrupted && tainted(pod):
		return Lost, "the taint manager deletes the pod"
	case pod.DeletionTimestamp != nil && pod.Spec.NodeName == "":
		return Gone, "the pod was deleted before it had a node"
	case pod.DeletionTimestamp != nil && o.CleanupTerminating:
		return Lost, "the pod terminates"
	case pod.Status.Phase == core.PodUnknown && pod.Status.Reason == reasonNodeLost:
		return Lost, "the pod's node is lost"
	default:
		return Keep, ""
	}
}

// tainted reports whether the taint manager has decided to delete a pod. Other disruptions do not count, because their pods end in the regular way.
func tainted(pod *core.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == core.DisruptionTarget && c.Status == core.ConditionTrue && c.Reason == "DeletionByTaintManager" {
			return true
		}
	}
	return false
}
