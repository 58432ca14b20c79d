// Package conditions sets Ready, Reconciling and Stalled so that kstatus, kubectl wait and Argo CD agree about an object. Reconciling and Stalled are
// never true together.
package conditions

import (
	api "k8s.io/apimachinery/pkg/api/meta"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Condition types.
const (
	Ready       = "Ready"
	Reconciling = "Reconciling"
	Stalled     = "Stalled"
)

// Done sets Ready. The object has its desired state.
func Done(conditions *[]meta.Condition, generation int64, reason, message string) {
	set(conditions, generation, reason, message, meta.ConditionTrue, meta.ConditionFalse, meta.ConditionFalse)
}

// Working sets Reconciling. The controller works on the object, and the result is open.
func Working(conditions *[]meta.Condition, generation int64, reason, message string) {
	set(conditions, generation, reason, message, meta.ConditionUnknown, meta.ConditionTrue, meta.ConditionFalse)
}

// Stuck sets Stalled. The object makes no progress until something else changes.
func Stuck(conditions *[]meta.Condition, generation int64, reason, message string) {
	set(conditions, generation, reason, message, meta.ConditionFalse, meta.ConditionFalse, meta.ConditionTrue)
}

func set(conditions *[]meta.Condition, generation int64, reason, message string, ready, reconciling, stalled meta.ConditionStatus) {
	for _, c := range []meta.Condition{{Type: Ready, Status: ready}, {Type: Reconciling, Status: reconciling}, {Type: Stalled, Status: stalled}} {
		c.ObservedGeneration, c.Reason, c.Message = generation, reason, message
		api.SetStatusCondition(conditions, c)
	}
}
