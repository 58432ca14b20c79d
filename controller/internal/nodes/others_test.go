package nodes_test

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/nodes"
)

// TestNodeSlicePoolAnnotatesOnlyItsOwnNodes checks that each NodeSlicePool leaves the others' nodes alone, also when it is deleted.
func TestNodeSlicePoolAnnotatesOnlyItsOwnNodes(t *testing.T) {
	s := begin(t, 2)
	s.class("pods-of-zones", "10.51.0.0/27", "zone")
	a, b := s.node("a"), s.node("b")
	s.label(b, "masters")
	s.run()
	of := func(name, selected string) *ipam.NodeSlicePool {
		return s.slices(name, func(spec *ipam.NodeSlicePoolSpec) {
			spec.ClassName, spec.Scope = "pods-of-zones", map[string]ipam.ScopeValue{"zone": ipam.ScopeValue(name)}
			spec.NodeSelector = &meta.LabelSelector{MatchLabels: map[string]string{"pool": selected}}
		})
	}
	one, two := of("one", "workers"), of("two", "masters")
	s.becomes(one, ipam.ReasonReconciled, "", "1", "0")
	s.becomes(two, ipam.ReasonReconciled, "", "1", "0")
	now := func(n *core.Node) (now core.Node) {
		require.NoError(t, world.Client.Get(t.Context(), client.ObjectKeyFromObject(n), &now))
		return now
	}
	before := now(b)
	require.Contains(t, before.Annotations, nodes.ByClass+"pods-of-zones")
	calls := s.calls.Load()
	s.eventually("looked at again", func() bool { return s.calls.Load() > calls+12 })
	require.Equal(t, before.ResourceVersion, now(b).ResourceVersion, "nothing is written")

	s.remove(one)
	s.eventually("gone", func() bool { return world.Client.Get(t.Context(), client.ObjectKeyFromObject(one), one) != nil })
	require.Empty(t, now(a).Annotations)
	require.Equal(t, before.ResourceVersion, now(b).ResourceVersion, "nothing is written")
}

// TestRefusedSlicesDoNotDelayTheOthers deletes a NodeSlicePool. It drains the slices that it may drain, and goes.
func TestRefusedSlicesDoNotDelayTheOthers(t *testing.T) {
	for code, status := range map[carve.ProblemCode]int{
		carve.ProblemCodeNotFound: http.StatusNotFound, carve.ProblemCodePermissionDenied: http.StatusForbidden,
	} {
		t.Run(string(code), func(t *testing.T) {
			s := begin(t, 8)
			var all []*core.Node
			for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
				all = append(all, s.node(name))
			}
			s.run()
			p := s.slices("workers", nil)
			s.becomes(p, ipam.ReasonReconciled, "", "8", "0")
			theirs := refusal{status: status, code: code}
			for i, a := range p.Status.Assignments[:4] {
				theirs.pools = append(theirs.pools, path.Base(a.Pool))
				_, err := s.claim(fmt.Sprint("x-", i), all[i+4]) // so that its own slices still exist while they drain
				require.NoError(t, err)
			}
			s.refused.Store(&theirs)
			s.remove(p)
			s.eventually("gone", func() bool { return world.Client.Get(t.Context(), client.ObjectKeyFromObject(p), p) != nil })
			for slice, err := range world.Carve.ScopePools(t.Context(), s.project, "pods") {
				require.NoError(t, err)
				require.Equal(t, slices.Contains(theirs.pools, slice.Metadata.Name), slice.Spec.Drain == "")
			}
		})
	}
}
