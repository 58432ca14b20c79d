package claims_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	condition "k8s.io/apimachinery/pkg/api/meta"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/claims"
	"github.com/carve-ipam/carve/controller/internal/conditions"
)

// elsewhere creates another namespace.
func (s story) elsewhere() string {
	s.Helper()
	ns := core.Namespace{ObjectMeta: meta.ObjectMeta{GenerateName: "target-"}}
	require.NoError(s, world.Client.Create(s.Context(), &ns))
	return ns.Name
}

// copied creates an object with the labels, annotations, finalizers and spec of a claim, as clusterctl and Velero do. The copy has another UID and no
// status.
func (s story) copied(c *ipam.IPClaim, namespace, name string) *ipam.IPClaim {
	s.Helper()
	target := &ipam.IPClaim{ObjectMeta: meta.ObjectMeta{
		Namespace: namespace, Name: name, Labels: c.Labels, Annotations: c.Annotations, Finalizers: c.Finalizers,
	}, Spec: c.Spec}
	require.NoError(s, world.Client.Create(s.Context(), target))
	return target
}

// force deletes a claim without its finalizers, as clusterctl does.
func (s story) force(c *ipam.IPClaim) {
	s.Helper()
	none := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":[]}}`))
	require.NoError(s, world.Client.Patch(s.Context(), c, none))
	require.NoError(s, client.IgnoreNotFound(world.Client.Delete(s.Context(), c)))
}

// stalled waits until the status of a claim gives the reason for its missing block.
func (s story) stalled(c *ipam.IPClaim, why string) {
	s.Helper()
	s.eventually(why, func() bool {
		require.NoError(s, world.Client.Get(s.Context(), client.ObjectKeyFromObject(c), c))
		ready := condition.FindStatusCondition(c.Status.Conditions, conditions.Ready)
		return ready != nil && ready.Status == meta.ConditionFalse
	})
	require.Contains(s, condition.FindStatusCondition(c.Status.Conditions, conditions.Stalled).Message, why)
	require.Empty(s, c.Status.CIDR)
}

// taken claims all free addresses and requires that the block is not among them.
func (s story) taken(block string) {
	s.Helper()
	for {
		got, err := world.Carve.CreateClaim(s.Context(), s.name, carve.IPClaimCreate{
			Metadata: carve.CreateMetadata{GenerateName: "other-"}, Spec: carve.IPClaimSpec{PoolRef: &carve.Ref{Name: "pool"}, PrefixLength: 32},
		})
		if carve.IsExhausted(err) {
			return
		}
		require.NoError(s, err)
		require.NotEqual(s, block, got.Status.AllocatedCIDR)
	}
}

func TestMovedClaimKeepsItsBlock(t *testing.T) {
	for name, source := range map[string]func(story, *ipam.IPClaim){
		"after its source is deleted by force": story.force,
		"after its source is deleted in order": func(s story, c *ipam.IPClaim) { require.NoError(s, world.Client.Delete(s.Context(), c)) },
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t)
			s.run()
			s.bound(s.claim("first", one))
			c := s.bound(s.claim("web", one))
			block := c.Status.CIDR
			target := s.copied(c, s.elsewhere(), c.Name)
			s.stalled(target, "IPClaim "+client.ObjectKeyFromObject(c).String()+" has it")
			source(s, c)
			require.Equal(t, block, s.bound(target).Status.CIDR)
			s.vanishes(c)
			require.Len(t, s.held(), 2)
			s.taken(block)

			again := s.copied(target, s.elsewhere(), "renamed") // and a second copy
			source(s, target)
			require.Equal(t, block, s.bound(again).Status.CIDR)
			require.NoError(t, world.Client.Delete(t.Context(), again))
			s.vanishes(again)
			require.NotContains(t, s.held(), block)
		})
	}
}

// TestRestoredClaimWaitsWhileAnotherClaimHasItsBlock restores a claim after Carve has released its block. The restored claim gets the block only once
// no other claim has it.
func TestRestoredClaimWaitsWhileAnotherClaimHasItsBlock(t *testing.T) {
	s := begin(t)
	s.run()
	s.bound(s.claim("first", one))
	c := s.bound(s.claim("web", one))
	require.NoError(t, world.Client.Delete(t.Context(), c))
	s.vanishes(c)
	s.force(s.bound(s.claim("next", one))) // it gets the first free address, and becomes an orphan that the restored claim does not own
	restored := s.copied(c, s.name, "web")
	s.stalled(restored, "does not name claim")
	require.Len(t, s.held(), 2)
	for held, err := range world.Carve.Claims(t.Context(), s.name) {
		require.NoError(t, err)
		if held.Status.AllocatedCIDR == c.Annotations[ipam.BlockAnnotation] {
			require.NoError(t, world.Carve.Release(t.Context(), s.name, held.Metadata.Name))
		}
	}
	require.Equal(t, c.Annotations[ipam.BlockAnnotation], s.bound(restored).Status.CIDR)
}

// TestSweepKeepsABlockThatALiveClaimRecords sweeps while the block belongs to a moved claim and its target waits. The target may not take the block
// over yet.
func TestSweepKeepsABlockThatALiveClaimRecords(t *testing.T) {
	s := begin(t)
	stop := s.run()
	c := s.bound(s.claim("web", one))
	lost := s.bound(s.claim("lost", one))
	stop()
	target := s.copied(c, s.elsewhere(), c.Name)
	s.force(c)
	s.force(lost)
	s.runs(world.Config, func(manager ctrl.Manager, r *claims.Reconciler) error {
		return manager.Add(&claims.Sweep{Of: r, Every: 100 * time.Millisecond})
	})
	s.eventually("the sweep has released the other", func() bool { return len(s.held()) == 1 })
	require.Equal(t, c.Annotations[ipam.BlockAnnotation], s.bound(target).Status.CIDR)
}
