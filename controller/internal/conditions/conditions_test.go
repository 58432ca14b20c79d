package conditions_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	api "k8s.io/apimachinery/pkg/api/meta"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/carve-ipam/carve/controller/internal/conditions"
)

// TestReconcilingAndStalledAreNeverBothTrue guards against a wrong result in kstatus, which uses the first true condition of the two.
func TestReconcilingAndStalledAreNeverBothTrue(t *testing.T) {
	t.Parallel()
	var all []meta.Condition
	for _, step := range []struct {
		set                         func(*[]meta.Condition, int64, string, string)
		ready, reconciling, stalled meta.ConditionStatus
	}{
		{conditions.Working, meta.ConditionUnknown, meta.ConditionTrue, meta.ConditionFalse},
		{conditions.Stuck, meta.ConditionFalse, meta.ConditionFalse, meta.ConditionTrue},
		{conditions.Done, meta.ConditionTrue, meta.ConditionFalse, meta.ConditionFalse},
	} {
		step.set(&all, 3, "Reconciled", "said")
		require.Len(t, all, 3)
		for kind, want := range map[string]meta.ConditionStatus{
			conditions.Ready: step.ready, conditions.Reconciling: step.reconciling, conditions.Stalled: step.stalled,
		} {
			got := api.FindStatusCondition(all, kind)
			require.Equal(t, want, got.Status, kind)
			require.EqualValues(t, 3, got.ObservedGeneration)
		}
	}
}
