package nodes_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	events "k8s.io/api/events/v1"
	api "k8s.io/apimachinery/pkg/api/errors"
	condition "k8s.io/apimachinery/pkg/api/meta"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/conditions"
)

// selecting returns a selector for the nodes' label.
func selecting(value string) *meta.LabelSelector {
	return &meta.LabelSelector{MatchLabels: map[string]string{"pool": value}}
}

// vanishes waits until an object is gone.
func (s story) vanishes(o client.Object) {
	s.Helper()
	s.eventually("gone", func() bool { return api.IsNotFound(world.Client.Get(s.Context(), client.ObjectKeyFromObject(o), o)) })
}

func TestInvalidSelectorIsShownAndAllowsDeletion(t *testing.T) {
	s := begin(t, 2)
	s.run()
	s.node("a")
	p := s.slices("workers", func(spec *ipam.NodeSlicePoolSpec) { spec.NodeSelector = selecting("not a label!") })
	s.becomes(p, ipam.ReasonError, "spec.nodeSelector", "", "")
	require.True(t, condition.IsStatusConditionTrue(p.Status.Conditions, conditions.Stalled))
	s.eventually("an event", func() bool {
		var all events.EventList
		require.NoError(t, world.Client.List(t.Context(), &all))
		for _, e := range all.Items {
			if e.Regarding.UID == p.UID && e.Reason == ipam.ReasonError {
				return true
			}
		}
		return false
	})
	s.remove(p)
	s.vanishes(p)
}

func TestSelectorChangedToAnInvalidOneKeepsTheSlices(t *testing.T) {
	s := begin(t, 2)
	s.run()
	a := s.node("a")
	p := s.slices("workers", nil)
	s.becomes(p, ipam.ReasonReconciled, "", "1", "0")
	first := s.slice(a)
	p.Spec.NodeSelector = selecting("not a label!")
	require.NoError(t, world.Client.Update(t.Context(), p))
	s.becomes(p, ipam.ReasonError, "spec.nodeSelector", "1", "0")
	require.Equal(t, p.Generation, p.Status.ObservedGeneration)
	require.Equal(t, p.Generation, condition.FindStatusCondition(p.Status.Conditions, conditions.Ready).ObservedGeneration)
	require.Equal(t, first, s.remote()[string(a.UID)])
	s.remove(p)
	s.vanishes(p)
	for slice, err := range world.Carve.ScopePools(t.Context(), s.project, "pods") {
		require.NoError(t, err)
		require.NotEmpty(t, slice.Spec.Drain, "what was given out is drained")
	}
}

func TestAPIServerRefusesAnInvalidSelector(t *testing.T) {
	s := begin(t, 2)
	for name, expression := range map[string]meta.LabelSelectorRequirement{
		"UnknownOperator":  {Key: "of", Operator: "Inn", Values: []string{"a"}},
		"InWithoutValues":  {Key: "of", Operator: meta.LabelSelectorOpIn},
		"ExistsWithValues": {Key: "of", Operator: meta.LabelSelectorOpExists, Values: []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &ipam.NodeSlicePool{ObjectMeta: meta.ObjectMeta{Name: "workers"}, Spec: ipam.NodeSlicePoolSpec{ClassName: "pods"}}
			p.Spec.NodeSelector = &meta.LabelSelector{MatchExpressions: []meta.LabelSelectorRequirement{expression}}
			err := world.Client.Create(t.Context(), p)
			require.True(t, api.IsInvalid(err), "%v", err)
			require.ErrorContains(t, err, "nodeSelector")
		})
	}
	valid := s.slices("workers", func(spec *ipam.NodeSlicePoolSpec) {
		spec.NodeSelector = &meta.LabelSelector{MatchExpressions: []meta.LabelSelectorRequirement{
			{Key: "pool", Operator: meta.LabelSelectorOpIn, Values: []string{"workers"}}, {Key: "x", Operator: meta.LabelSelectorOpDoesNotExist},
		}}
	})
	require.NotEmpty(t, valid.UID)
}
