package nodes_test

import (
	"path"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	carve "github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/client/patch"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
)

// deleteBeforeItsChange deletes a slice in Carve after the controller has listed it, and before the controller changes it.
func (s story) deleteBeforeItsChange(p *ipam.NodeSlicePool, end func(pool string)) {
	s.Helper()
	pool := path.Base(p.Status.Assignments[0].Pool)
	s.before.Store(&interruption{pool: pool, do: func() {
		end(pool)
		s.eventually("the slice is gone", func() bool {
			_, err := world.Carve.GetPool(s.Context(), s.project, pool)
			return carve.IsNotFound(err)
		})
	}})
}

// TestReturningNodeGetsASliceWhenItsOldSliceVanishes empties the draining slice when its node comes back. The controller has no later reconciliation in
// which to correct a mistake.
func TestReturningNodeGetsASliceWhenItsOldSliceVanishes(t *testing.T) {
	s := begin(t, 2)
	s.every = time.Hour
	s.run()
	a := s.node("a")
	p := s.slices("workers", func(spec *ipam.NodeSlicePoolSpec) {
		spec.NodeSelector = &meta.LabelSelector{MatchLabels: map[string]string{"pool": "workers"}}
	})
	s.slice(a)
	_, err := s.claim("x", a)
	require.NoError(t, err)
	s.label(a, "masters")
	s.becomes(p, ipam.ReasonReconciling, "", "0", "1")

	s.deleteBeforeItsChange(p, func(string) { s.release("x") })
	s.label(a, "workers")
	s.becomes(p, ipam.ReasonReconciled, "each node has its slice", "1", "0")
	require.Equal(t, map[string]string{string(a.UID): s.slice(a)}, s.remote())
	require.Equal(t, "1", p.Status.Free)
}

// TestVanishedSliceOfARemovedNodeIsNotShown drains the empty slice by hand, so that Carve deletes it when the controller is about to drain it. The status may
// not report that the controller cannot drain the slice.
func TestVanishedSliceOfARemovedNodeIsNotShown(t *testing.T) {
	s := begin(t, 2)
	s.every = time.Hour
	s.run()
	a := s.node("a")
	p := s.slices("workers", nil)
	s.becomes(p, ipam.ReasonReconciled, "", "1", "0")
	s.deleteBeforeItsChange(p, func(pool string) {
		_, err := patch.Pool(world.Carve, s.project, pool).Change(t.Context(), func(p *carve.IPPool) error {
			p.Spec.Drain = carve.PoolDrainDelete
			return nil
		})
		require.NoError(t, err)
	})
	s.remove(a)
	s.becomes(p, ipam.ReasonReconciled, "each node has its slice", "0", "0")
	require.Empty(t, s.remote())
	require.Equal(t, "2", p.Status.Free)
}
