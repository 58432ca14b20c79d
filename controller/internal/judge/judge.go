// Package judge decides whether a pod still uses what it was given. It is a function of what is seen, and of nothing else.
package judge

import (
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Verdict is what becomes of a pod's claims.
type Verdict int

// The verdicts.
const (
	// Keep: the pod uses them, or may.
	Keep Verdict = iota
	// Gone: the pod uses nothing any more, and never will again.
	Gone
	// Lost: the pod is said to be gone by somebody who cannot see it. Its blocks cool down before others get them.
	Lost
)

func (v Verdict) String() string { return [...]string{"Keep", "Gone", "Lost"}[v] }

// Options are an operator's.
type Options struct {
	// CleanupTerminating releases when the deletion of a pod begins, and not when it has gone.
	CleanupTerminating bool
	// CleanupDisrupted releases when the taint manager has decided to delete a pod.
	CleanupDisrupted bool
	// VerifyNetworkStatus releases a claim of which the pod's network status does not have the address.
	VerifyNetworkStatus bool
}

// reasonNodeLost is that of a pod whose node does not answer.
const reasonNodeLost = "NodeLost"

// Pod judges a pod of a UID by the pod that has its name; nil where there is none. That there is none must be known from the API server itself.
func Pod(pod *core.Pod, uid types.UID, o Options) (verdict Verdict, why string) {
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
		return Gone, "the pod is deleted before it had a node"
	case pod.DeletionTimestamp != nil && o.CleanupTerminating:
		return Lost, "the pod terminates"
	case pod.Status.Phase == core.PodUnknown && pod.Status.Reason == reasonNodeLost:
		return Lost, "the pod's node is lost"
	default:
		return Keep, ""
	}
}

// tainted says whether the taint manager has marked a pod. Other disruptions do not count: the pod ends in order.
func tainted(pod *core.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == core.DisruptionTarget && c.Status == core.ConditionTrue && c.Reason == "DeletionByTaintManager" {
			return true
		}
	}
	return false
}
