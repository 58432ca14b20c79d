package nodes_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	condition "k8s.io/apimachinery/pkg/api/meta"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	carve "github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/client/patch"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/conditions"
)

// TestEveryNodeGetsASliceInOrderOfNames creates slices in order of the nodes' names, whatever happens in between. A restarted controller changes
// nothing (W-41, W-49).
func TestEveryNodeGetsASliceInOrderOfNames(t *testing.T) {
	s := begin(t, 4)
	a, b := s.node("a"), s.node("b")
	stop := s.run()
	p := s.slices("workers", nil)
	s.becomes(p, ipam.ReasonReconciled, "each node has its slice", "2", "0")
	require.Equal(t, [2]string{"4", "2"}, [2]string{p.Status.Total, p.Status.Free})
	require.Equal(t, "10.50.0.0/28", s.slice(a))
	require.Equal(t, []ipam.SliceAssignment{
		{Node: "a", UID: a.UID, CIDR: "10.50.0.0/28", Pool: p.Status.Assignments[0].Pool, State: ipam.SliceAssigned},
		{Node: "b", UID: b.UID, CIDR: "10.50.0.16/28", Pool: p.Status.Assignments[1].Pool, State: ipam.SliceAssigned},
	}, p.Status.Assignments)
	address, err := s.claim("x", b)
	require.NoError(t, err)
	require.Equal(t, "10.50.0.16/32", address)
	found, err := world.Carve.GetConsumer(t.Context(), s.project, s.realm, string(a.UID))
	require.NoError(t, err)
	require.Equal(t, [2]string{"Node", "/a"}, [2]string{found.Spec.Kind, found.Spec.Name})

	stop()
	version := p.ResourceVersion
	s.run()
	calls := s.calls.Load()
	s.eventually("looked at again", func() bool { return s.calls.Load() > calls+6 })
	s.becomes(p, ipam.ReasonReconciled, "", "2", "0")
	require.Equal(t, version, p.ResourceVersion, "nothing is written again")
	c := s.node("c")
	require.Equal(t, "10.50.0.32/28", s.slice(c))
}

// Scenario 48.
func TestSliceOfARemovedNodeIsReusedOnlyOnceEmpty(t *testing.T) {
	s := begin(t, 1)
	s.run()
	a := s.node("a")
	p := s.slices("workers", nil)
	s.becomes(p, ipam.ReasonReconciled, "", "1", "0")
	_, err := s.claim("x", a)
	require.NoError(t, err)
	s.remove(a)
	s.becomes(p, ipam.ReasonReconciling, "drain until their last block is released", "0", "1")
	require.Equal(t, ipam.SliceDraining, p.Status.Assignments[0].State)
	found, err := world.Carve.GetConsumer(t.Context(), s.project, s.realm, string(a.UID))
	require.NoError(t, err)
	require.NotNil(t, found.Status.EndedAt, "what only the node used is released")
	_, err = s.claim("y", a)
	require.ErrorIs(t, err, carve.ProblemCodePoolDraining, "nothing new gets in")

	b := s.node("b")
	s.becomes(p, ipam.ReasonPoolFull, "nodes without a slice: 1 (b)", "0", "1")
	require.True(t, condition.IsStatusConditionTrue(p.Status.Conditions, conditions.Stalled))
	held, err := world.Carve.GetClaim(t.Context(), s.project, "x")
	require.NoError(t, err)
	require.Equal(t, "10.50.0.0/32", held.Status.AllocatedCIDR, "what lives is not freed")
	s.release("x")
	require.Equal(t, "10.50.0.0/28", s.slice(b))
	s.becomes(p, ipam.ReasonReconciled, "each node has its slice", "1", "0")
}

// TestReturningNodeKeepsItsSlice checks that the node still has its slice. Another node with the same name gets another slice (scenario 49).
func TestReturningNodeKeepsItsSlice(t *testing.T) {
	s := begin(t, 2)
	s.run()
	a := s.node("a")
	p := s.slices("workers", func(spec *ipam.NodeSlicePoolSpec) {
		spec.NodeSelector = &meta.LabelSelector{MatchLabels: map[string]string{"pool": "workers"}}
	})
	first := s.slice(a)
	_, err := s.claim("x", a)
	require.NoError(t, err)

	s.label(a, "masters")
	s.becomes(p, ipam.ReasonReconciling, "", "0", "1")
	s.label(a, "workers")
	s.becomes(p, ipam.ReasonReconciled, "", "1", "0")
	require.Equal(t, first, s.slice(a))
	_, err = s.claim("y", a)
	require.NoError(t, err, "the slice serves its node again")

	s.remove(a)
	again := s.node("a")
	require.NotEqual(t, first, s.slice(again))
	s.becomes(p, ipam.ReasonReconciling, "", "1", "1")
	s.release("x")
	s.release("y")
	s.becomes(p, ipam.ReasonReconciled, "", "1", "0")
	require.Equal(t, map[string]string{string(again.UID): s.slice(again)}, s.remote())
}

// TestNodeWithoutASliceIsShownUntilOneIsFree checks that the status counts the nodes without a slice, and that the condition ends by itself (W-44,
// D-7, scenario 50).
func TestNodeWithoutASliceIsShownUntilOneIsFree(t *testing.T) {
	s := begin(t, 1)
	s.run()
	a, b := s.node("a"), s.node("b")
	p := s.slices("workers", nil)
	s.becomes(p, ipam.ReasonPoolFull, "nodes without a slice: 1 (b)", "1", "0")
	s.remove(a)
	require.Equal(t, "10.50.0.0/28", s.slice(b))
	s.becomes(p, ipam.ReasonReconciled, "", "1", "0")
}

// W-43.
func TestSliceOfAMissingNodeIsKeptDuringTheGracePeriod(t *testing.T) {
	s := begin(t, 2)
	s.grace = time.Hour
	s.run()
	a := s.node("a")
	p := s.slices("workers", nil)
	s.becomes(p, ipam.ReasonReconciled, "", "1", "0")
	s.remove(a)
	s.becomes(p, ipam.ReasonReconciling, "slices of deleted nodes: 1; slices that drain until their last block is released: 0", "1", "0")
	calls := s.calls.Load()
	s.eventually("looked at again", func() bool { return s.calls.Load() > calls+6 })
	_, err := s.claim("x", a)
	require.NoError(t, err, "not drained yet")
}

// TestNodeMissingOnlyFromTheCacheKeepsItsSlice hides a node from the cache while the API server has it (scenario 56).
func TestNodeMissingOnlyFromTheCacheKeepsItsSlice(t *testing.T) {
	s := begin(t, 2)
	s.run()
	a := s.node("a")
	p := s.slices("workers", nil)
	s.becomes(p, ipam.ReasonReconciled, "", "1", "0")
	s.blind.Store("a")
	s.becomes(p, ipam.ReasonReconciling, "slices that drain until their last block is released: 0", "1", "0")
	since, calls := time.Now(), s.calls.Load()
	s.eventually("missed for longer than the grace", func() bool { return time.Since(since) > 3*s.grace && s.calls.Load() > calls+6 })
	s.becomes(p, ipam.ReasonReconciling, "slices that drain until their last block is released: 0", "1", "0")
	_, err := s.claim("x", a)
	require.NoError(t, err)
	s.blind.Store("")
	s.becomes(p, ipam.ReasonReconciled, "", "1", "0")
	found, err := world.Carve.GetConsumer(t.Context(), s.project, s.realm, string(a.UID))
	require.NoError(t, err)
	require.Empty(t, found.Status.EndedAt, "the node lives")
}

// TestEveryNodeHasOneSliceAfterAKillAtAnyCall loses each response once and stops the controller. In the end every node has one slice (scenario 58).
func TestEveryNodeHasOneSliceAfterAKillAtAnyCall(t *testing.T) {
	for last := int64(1); last <= 8; last++ {
		t.Run(fmt.Sprint("after call ", last), func(t *testing.T) {
			s := begin(t, 4)
			s.last.Store(last)
			nodes := []*core.Node{s.node("a"), s.node("b")}
			p := s.slices("workers", nil)
			stop := s.run()
			s.eventually("the line is cut", func() bool { return s.calls.Load() > last })
			stop()
			s.last.Store(0)
			s.run()
			s.becomes(p, ipam.ReasonReconciled, "each node has its slice", "2", "0")
			require.Len(t, s.remote(), len(nodes))
			for _, n := range nodes {
				require.Equal(t, s.slice(n), s.remote()[string(n.UID)])
				found, err := world.Carve.GetConsumer(t.Context(), s.project, s.realm, string(n.UID))
				require.NoError(t, err)
				require.Nil(t, found.Status.EndedAt)
			}
		})
	}
}

// TestSlicesDuringACarveOutageAreKeptAndWorkResumes checks that known slices stay readable, and that work resumes as soon as Carve is back (scenario
// 57).
func TestSlicesDuringACarveOutageAreKeptAndWorkResumes(t *testing.T) {
	s := begin(t, 2)
	s.run()
	a := s.node("a")
	p := s.slices("workers", nil)
	s.becomes(p, ipam.ReasonReconciled, "", "1", "0")
	s.last.Store(1)
	s.becomes(p, ipam.ReasonReconciling, "Carve does not respond", "1", "0")
	b := s.node("b")
	calls := s.calls.Load()
	s.eventually("tried again and again", func() bool { return s.calls.Load() > calls+20 })
	require.Len(t, s.remote(), 1)
	s.last.Store(0)
	s.becomes(p, ipam.ReasonReconciled, "", "2", "0")
	require.Equal(t, map[string]string{string(a.UID): s.slice(a), string(b.UID): s.slice(b)}, s.remote())
}

// Scenario 52.
func TestAnotherPrefixLengthIsRefusedAndMovesNoSlice(t *testing.T) {
	s := begin(t, 2)
	s.run()
	a := s.node("a")
	p := s.slices("workers", nil)
	s.becomes(p, ipam.ReasonReconciled, "", "1", "0")
	first := s.slice(a)
	change := func(length *int32) {
		s.eventually("changed", func() bool {
			require.NoError(t, world.Client.Get(t.Context(), client.ObjectKeyFromObject(p), p))
			p.Spec.PrefixLength = length
			return world.Client.Update(t.Context(), p) == nil
		})
	}
	length := int32(27)
	change(&length)
	s.becomes(p, ipam.ReasonError, "has slices of /28, not /27: no slice changes", "1", "0")
	require.Equal(t, map[string]string{string(a.UID): first}, s.remote())
	change(nil)
	s.becomes(p, ipam.ReasonReconciled, "", "1", "0")
}

// TestConflictingNodeSlicePoolsBothReportIt checks that both report the conflict until they agree, and that no node loses its slice meanwhile
// (scenario 65).
func TestConflictingNodeSlicePoolsBothReportIt(t *testing.T) {
	s := begin(t, 2)
	s.run()
	a := s.node("a")
	one := s.slices("one", nil)
	s.becomes(one, ipam.ReasonReconciled, "", "1", "0")
	first := s.slice(a)
	two := s.slices("two", func(spec *ipam.NodeSlicePoolSpec) {
		spec.NodeSelector = &meta.LabelSelector{MatchLabels: map[string]string{"pool": "none"}}
	})
	s.becomes(one, ipam.ReasonError, "one and two disagree about the slices of class pods", "1", "0")
	s.becomes(two, ipam.ReasonError, "one and two disagree about the slices of class pods", "", "")
	require.Equal(t, map[string]string{string(a.UID): first}, s.remote())
	s.eventually("changed", func() bool {
		require.NoError(t, world.Client.Get(t.Context(), client.ObjectKeyFromObject(two), two))
		two.Spec.NodeSelector = nil
		return world.Client.Update(t.Context(), two) == nil
	})
	s.becomes(one, ipam.ReasonReconciled, "", "1", "0")
	s.becomes(two, ipam.ReasonReconciled, "", "1", "0")
	s.remove(two)
	s.eventually("gone", func() bool {
		return client.IgnoreNotFound(world.Client.Get(t.Context(), client.ObjectKeyFromObject(two), two)) == nil &&
			world.Client.Get(t.Context(), client.ObjectKeyFromObject(two), two) != nil
	})
	require.Equal(t, map[string]string{string(a.UID): first}, s.remote(), "the other one has them still")
}

// TestHeartbeatsOfNodesCauseNoReconciliation writes the nodes' statuses 1,000 times and expects no reconciliation from that (scenario 64, W-42).
func TestHeartbeatsOfNodesCauseNoReconciliation(t *testing.T) {
	s := begin(t, 2)
	s.every = time.Hour
	s.run()
	p := s.slices("workers", func(spec *ipam.NodeSlicePoolSpec) {
		spec.NodeSelector = &meta.LabelSelector{MatchLabels: map[string]string{"slices": "yes"}}
	})
	s.becomes(p, ipam.ReasonReconciled, "", "0", "0")
	var all []*core.Node
	for i := range 100 {
		all = append(all, s.node(fmt.Sprintf("n-%d", i)))
	}
	quiet := func() int64 { // waits until the controller has made no call for longer than a call takes
		last, since := s.calls.Load(), time.Now()
		s.eventually("quiet", func() bool {
			if now := s.calls.Load(); now != last {
				last, since = now, time.Now()
			}
			return time.Since(since) > 2*time.Second
		})
		return last
	}
	before := quiet()
	for beat := range 10 {
		for _, n := range all {
			beat := fmt.Appendf(nil, `{"status":{"conditions":[{"type":"Ready","status":"True","reason":"beat-%d"}]}}`, beat)
			require.NoError(t, world.Client.Status().Patch(t.Context(), n, client.RawPatch(types.MergePatchType, beat)))
		}
	}
	with := s.node("with")
	s.label(with, "any")
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"slices":"yes"}}}`))
	require.NoError(t, world.Client.Patch(t.Context(), with, patch))
	s.slice(with)
	const ofOnePass = 5 // class, slices, consumer, slice, class
	require.LessOrEqual(t, quiet()-before, int64(3*ofOnePass), "the node that came and was labelled, and no heartbeat")
}

// TestSliceOfAnotherClusterIsLeftAlone creates a slice of another cluster in the same class and project (scenario 35).
func TestSliceOfAnotherClusterIsLeftAlone(t *testing.T) {
	s := begin(t, 2)
	_, err := world.Carve.PutScopePool(t.Context(), s.project, "pods", "node=of-another-cluster")
	require.NoError(t, err)
	s.run()
	a := s.node("a")
	p := s.slices("workers", nil)
	s.becomes(p, ipam.ReasonReconciled, "", "1", "0")
	s.remove(a)
	s.eventually("drained and gone", func() bool { return len(s.remote()) == 1 })
	s.becomes(p, ipam.ReasonReconciled, "", "0", "0")
	require.Contains(t, s.remote(), "of-another-cluster")
	s.remove(p)
	s.eventually("gone", func() bool { return world.Client.Get(t.Context(), client.ObjectKeyFromObject(p), p) != nil })
	require.Contains(t, s.remote(), "of-another-cluster")
}

// TestDeletingTheLastNodeSlicePoolRemovesAllSlices deletes the last NodeSlicePool. Empty slices go at once, and slices in use when they are empty
// (W-46).
func TestDeletingTheLastNodeSlicePoolRemovesAllSlices(t *testing.T) {
	s := begin(t, 2)
	s.run()
	a, b := s.node("a"), s.node("b")
	p := s.slices("workers", nil)
	s.slice(a)
	s.slice(b)
	_, err := s.claim("x", b)
	require.NoError(t, err)
	s.remove(p)
	s.eventually("the empty one is gone", func() bool { return len(s.remote()) == 1 })
	require.Contains(t, s.remote(), string(b.UID))
	s.eventually("nothing is annotated", func() bool {
		require.NoError(t, world.Client.Get(t.Context(), client.ObjectKeyFromObject(a), a))
		return len(a.Annotations) == 0
	})
	s.release("x")
	s.eventually("all are gone", func() bool { return len(s.remote()) == 0 })
}

// TestSliceDrainedByHandStaysDrained drains a slice by hand. The controller keeps it drained.
func TestSliceDrainedByHandStaysDrained(t *testing.T) {
	s := begin(t, 2)
	s.run()
	a := s.node("a")
	p := s.slices("workers", nil)
	s.slice(a)
	_, err := s.claim("x", a)
	require.NoError(t, err)
	s.becomes(p, ipam.ReasonReconciled, "", "1", "0")
	_, err = patch.Pool(world.Carve, s.project, p.Status.Assignments[0].Pool[len(s.project)+1:]).Change(t.Context(), func(p *carve.IPPool) error {
		p.Spec.Drain = carve.PoolDrainDelete
		return nil
	})
	require.NoError(t, err)
	s.becomes(p, ipam.ReasonReconciling, "", "0", "1")
	s.release("x")
	s.becomes(p, ipam.ReasonReconciled, "", "1", "0")
}

func TestClassWithoutSlicesIsReported(t *testing.T) {
	s := begin(t, 2)
	s.run()
	p := s.slices("workers", func(spec *ipam.NodeSlicePoolSpec) { spec.ClassName = "none" })
	s.becomes(p, ipam.ReasonError, "none", "", "")
	q := s.slices("racks", func(spec *ipam.NodeSlicePoolSpec) { spec.Role = "rack" })
	s.becomes(q, ipam.ReasonError, "class pods has no role rack in its poolPer", "", "")
}
