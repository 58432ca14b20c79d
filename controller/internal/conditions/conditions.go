// Package conditions sets Ready, Reconciling and Stalled so that kstatus, kubectl wait and Argo CD read them alike: never are both of the last two true.
package conditions

import (
	api "k8s.io/apimachinery/pkg/api/meta"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The types of conditions.
const (
	Ready       = "Ready"
	Reconciling = "Reconciling"
	Stalled     = "Stalled"
)

// Done says that everything is as it was asked for.
func Done(conditions *[]meta.Condition, generation int64, reason, message string) {
	set(conditions, generation, reason, message, meta.ConditionTrue, meta.ConditionFalse, meta.ConditionFalse)
}

// Working says that something is under way, and nobody knows how it ends.
func Working(conditions *[]meta.Condition, generation int64, reason, message string) {
	set(conditions, generation, reason, message, meta.ConditionUnknown, meta.ConditionTrue, meta.ConditionFalse)
}

// Stuck says that it does not go on unless something else changes.
func Stuck(conditions *[]meta.Condition, generation int64, reason, message string) {
	set(conditions, generation, reason, message, meta.ConditionFalse, meta.ConditionFalse, meta.ConditionTrue)
}

func set(conditions *[]meta.Condition, generation int64, reason, message string, ready, reconciling, stalled meta.ConditionStatus) {
	for _, c := range []meta.Condition{{Type: Ready, Status: ready}, {Type: Reconciling, Status: reconciling}, {Type: Stalled, Status: stalled}} {
		c.ObservedGeneration, c.Reason, c.Message = generation, reason, message
		api.SetStatusCondition(conditions, c)
	}
}
