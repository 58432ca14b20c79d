package mirror_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	api "k8s.io/apimachinery/pkg/api/errors"
	condition "k8s.io/apimachinery/pkg/api/meta"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	carve "github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/client/patch"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/conditions"
)

var sixteen = ipam.IPPoolSpec{CIDR: "10.30.0.0/28"}

// TestFiguresOfAPoolAreExactAndDecimal checks that figures are exact, decimal and recent (W-27, W-31, D-10).
func TestFiguresOfAPoolAreExactAndDecimal(t *testing.T) {
	s := begin(t)
	s.run()
	p := s.pool("web", sixteen)
	s.becomes(p, meta.ConditionTrue, ipam.ReasonPoolCreated, "")
	require.Equal(t, "10.30.0.0/28", p.Status.CIDR)
	require.Equal(t, s.project, p.Status.Remote.Project)
	require.Equal(t, string(p.UID), s.remote("web").Metadata.Annotations["ipam.carve.dev/uid"])

	s.claim("a", "web", 30)
	s.eventually("the claim is counted", func() bool {
		s.becomes(p, meta.ConditionTrue, ipam.ReasonPoolCreated, "")
		return p.Status.Used == "4"
	})
	require.Equal(t, [4]string{"16", "12", "25.00%", "IPv4"}, [4]string{p.Status.Total, p.Status.Free, p.Status.Utilization, p.Status.IPFamily})
	require.EqualValues(t, 29, *p.Status.LargestFreePrefixLength)

	huge := s.pool("huge", ipam.IPPoolSpec{CIDR: "fd00::/16"})
	s.becomes(huge, meta.ConditionTrue, ipam.ReasonPoolCreated, "")
	require.Equal(t, "5192296858534827628530496329220096", huge.Status.Total)
}

// TestSteadyStateCausesListsOnlyAndNoWrites checks that the figures of one pool cause no write to another, and no call except lists (W-8, W-30).
func TestSteadyStateCausesListsOnlyAndNoWrites(t *testing.T) {
	s := begin(t)
	s.run()
	var pools []*ipam.IPPool
	for _, name := range []string{"a", "b", "c"} {
		pools = append(pools, s.pool(name, ipam.IPPoolSpec{CIDR: "10.30.0.0/28", SpaceRef: s.space(name)}))
	}
	for _, p := range pools {
		s.becomes(p, meta.ConditionTrue, ipam.ReasonPoolCreated, "")
	}
	s.claim("x", "a", 32)
	s.eventually("the claim is counted", func() bool {
		s.becomes(pools[0], meta.ConditionTrue, ipam.ReasonPoolCreated, "")
		return pools[0].Status.Used == "1"
	})
	lists, others := s.line.lists.Load(), s.line.others.Load()
	s.eventually("looked at ten times, by nothing but lists", func() bool {
		if now := s.line.others.Load(); now != others { // the controller may see its last write once more before its cache has it
			lists, others = s.line.lists.Load(), now
		}
		return s.line.lists.Load() >= lists+10
	})
	was := pools[1].ResourceVersion
	s.becomes(pools[1], meta.ConditionTrue, ipam.ReasonPoolCreated, "")
	require.Equal(t, was, pools[1].ResourceVersion, "nothing is written")
}

// space creates a separate space.
func (s story) space(name string) *ipam.PoolRef {
	s.Helper()
	_, err := world.Carve.CreateSpace(s.Context(), s.project, carve.SpaceCreate{Metadata: carve.CreateMetadata{Name: name}})
	require.NoError(s, err)
	return &ipam.PoolRef{Name: ipam.Name(name)}
}

// TestFullPoolIsShownUntilARelease checks that the status derives fullness from the figures (D-7).
func TestFullPoolIsShownUntilARelease(t *testing.T) {
	s := begin(t)
	s.run()
	p := s.pool("web", sixteen)
	s.becomes(p, meta.ConditionTrue, ipam.ReasonPoolCreated, "")
	s.claim("whole", "web", 28)
	s.becomes(p, meta.ConditionTrue, ipam.ReasonPoolFull, "nothing is free in 10.30.0.0/28")
	require.Equal(t, "0", p.Status.Free)
	require.Nil(t, p.Status.LargestFreePrefixLength)
	s.release("whole")
	s.becomes(p, meta.ConditionTrue, ipam.ReasonReconciled, "")
}

// TestDeletedPoolInUseIsRemovedOnceEmpty checks that a deletion frees no claim, admits no new one, and ends when the pool is empty (W-29).
func TestDeletedPoolInUseIsRemovedOnceEmpty(t *testing.T) {
	s := begin(t)
	stop := s.run()
	p := s.pool("web", sixteen)
	s.becomes(p, meta.ConditionTrue, ipam.ReasonPoolCreated, "")
	s.claim("a", "web", 32)
	s.claim("b", "web", 32)
	s.remove(p)
	s.becomes(p, meta.ConditionUnknown, ipam.ReasonReconciling, "2 claims")
	require.True(t, condition.IsStatusConditionTrue(p.Status.Conditions, conditions.Reconciling))
	_, err := world.Carve.Claim(t.Context(), s.project, "c", carve.IPClaimSpec{PoolRef: &carve.Ref{Name: "web"}, PrefixLength: 32})
	require.ErrorIs(t, err, carve.ProblemCodePoolDraining)

	stop()
	s.release("a")
	s.release("b")
	s.run()
	s.vanishes(p)
	s.eventually("gone in Carve", func() bool { return s.remote("web") == nil })
}

// TestPoolWhoseCreationWasNotRecordedIsDeleted kills the controller between two calls.
func TestPoolWhoseCreationWasNotRecordedIsDeleted(t *testing.T) {
	s := begin(t)
	p := s.pool("web", sixteen)
	made := carve.CreateMetadata{Name: "web", Annotations: carve.Annotations{"ipam.carve.dev/uid": string(p.UID)}}
	_, err := world.Carve.CreatePool(t.Context(), s.project, carve.IPPoolCreate{Metadata: made, Spec: carve.IPPoolSpec{CIDR: "10.30.0.0/28"}})
	require.NoError(t, err)
	stop := s.run()
	s.becomes(p, meta.ConditionTrue, ipam.ReasonPoolCreated, "")
	stop()
	s.update(p, func() {})
	p.Status = ipam.IPPoolStatus{}
	require.NoError(t, world.Client.Status().Update(t.Context(), p))
	s.remove(p)
	s.run()
	s.vanishes(p)
	require.Nil(t, s.remote("web"))
}

// TestPoolIsCreatedOnceAfterAKillAtAnyCall loses each response once and stops the controller. The next controller finds the pool and does not create
// it twice (scenario 58).
func TestPoolIsCreatedOnceAfterAKillAtAnyCall(t *testing.T) {
	for last := int64(1); last <= 6; last++ {
		t.Run(fmt.Sprint("after call ", last), func(t *testing.T) {
			s := begin(t)
			s.line.last.Store(last)
			spec := sixteen
			spec.Drain = "Keep" // which needs a separate call
			p := s.pool("web", spec)
			stop := s.run()
			s.eventually("the line is cut", s.line.cut.Load)
			stop()
			s.line.last.Store(0)
			s.line.cut.Store(false)
			stop = s.run()
			s.settled(p)
			require.Equal(t, carve.PoolDrainKeep, s.remote("web").Spec.Drain)
			require.Equal(t, string(p.UID), s.remote("web").Metadata.Annotations["ipam.carve.dev/uid"])

			s.update(p, func() { p.Spec.Drain = "" })
			s.becomes(p, meta.ConditionTrue, ipam.ReasonPoolUpdated, "")
			stop()
			s.line.last.Store(s.line.lists.Load() + s.line.others.Load() + last)
			s.claim("none", "web", 32)
			s.remove(p)
			stop = s.run()
			s.eventually("the line is cut", s.line.cut.Load)
			stop()
			s.line.last.Store(0)
			s.line.cut.Store(false)
			s.release("none")
			s.run()
			s.vanishes(p)
			require.Nil(t, s.remote("web"))
		})
	}
}

// settled waits until an object has its desired state.
func (s story) settled(p *ipam.IPPool) {
	s.Helper()
	s.eventually("settled", func() bool {
		require.NoError(s, world.Client.Get(s.Context(), client.ObjectKeyFromObject(p), p))
		return condition.IsStatusConditionTrue(p.Status.Conditions, conditions.Ready)
	})
}

// TestDriftIsShownAndNotReverted changes a pool in Carve. The change stays until a user changes the object; then the specification applies again.
func TestDriftIsShownAndNotReverted(t *testing.T) {
	s := begin(t)
	s.run()
	spec := sixteen
	spec.Description, spec.ReuseAfter = "as it is to be", "90m"
	spec.Reservations = []ipam.Reservation{{First: 1, Reason: "router"}, {From: "10.30.0.14", To: "10.30.0.15"}}
	p := s.pool("web", spec)
	s.becomes(p, meta.ConditionTrue, ipam.ReasonPoolCreated, "")
	require.Equal(t, "3", p.Status.Used)

	change := func(change func(*carve.IPPool)) {
		_, err := patch.Pool(world.Carve, s.project, "web").Change(t.Context(), func(p *carve.IPPool) error { change(p); return nil })
		require.NoError(t, err)
	}
	change(func(p *carve.IPPool) { p.Spec.Description, p.Spec.Drain = "another", carve.PoolDrainKeep })
	s.becomes(p, meta.ConditionFalse, ipam.ReasonError, "spec.description, spec.drain")
	require.Equal(t, "another", s.remote("web").Spec.Description)
	change(func(p *carve.IPPool) { p.Spec.Description, p.Spec.Drain = "as it is to be", "" })
	s.becomes(p, meta.ConditionTrue, ipam.ReasonReconciled, "")

	change(func(p *carve.IPPool) { p.Spec.Description = "another" })
	s.becomes(p, meta.ConditionFalse, ipam.ReasonError, "spec.description")
	s.update(p, func() { p.Spec.Drain, p.Spec.Reservations = "Keep", nil })
	s.becomes(p, meta.ConditionTrue, ipam.ReasonPoolUpdated, "")
	remote := s.remote("web")
	require.Equal(t, "as it is to be", remote.Spec.Description)
	require.Equal(t, carve.PoolDrainKeep, remote.Spec.Drain)
	require.Empty(t, remote.Spec.Reservations)

	err := world.Carve.DeletePool(t.Context(), s.project, "web")
	require.NoError(t, err)
	s.becomes(p, meta.ConditionFalse, ipam.ReasonError, "was deleted in Carve")
	require.Nil(t, s.remote("web"), "it is not made again")
	s.remove(p)
	s.vanishes(p)
}

// TestExistingPoolIsShownAndNeverChanged names an existing pool to adopt it.
func TestExistingPoolIsShownAndNeverChanged(t *testing.T) {
	s := begin(t)
	_, err := world.Carve.CreatePool(t.Context(), s.project, carve.IPPoolCreate{
		Metadata: carve.CreateMetadata{Name: "web"}, Spec: carve.IPPoolSpec{CIDR: "10.30.0.0/28", Description: "old"},
	})
	require.NoError(t, err)
	before := s.remote("web").Metadata.Revision
	s.run()
	taken := s.pool("web", sixteen)
	s.becomes(taken, meta.ConditionFalse, ipam.ReasonError, "name it in spec.existing")
	s.remove(taken)
	s.vanishes(taken)

	shown := s.pool("shown", ipam.IPPoolSpec{Existing: "web"})
	s.becomes(shown, meta.ConditionTrue, ipam.ReasonValidated, "")
	require.Equal(t, "16", shown.Status.Total)
	s.claim("a", "web", 30)
	s.eventually("its figures follow", func() bool {
		s.becomes(shown, meta.ConditionTrue, ipam.ReasonValidated, "")
		return shown.Status.Used == "4"
	})
	s.remove(shown)
	s.vanishes(shown)
	require.Equal(t, before, s.remote("web").Metadata.Revision)

	none := s.pool("none", ipam.IPPoolSpec{Existing: "later"})
	s.becomes(none, meta.ConditionFalse, ipam.ReasonError, "there is no pool later")
	_, err = world.Carve.CreatePool(t.Context(), s.project, carve.IPPoolCreate{
		Metadata: carve.CreateMetadata{Name: "later"}, Spec: carve.IPPoolSpec{CIDR: "10.31.0.0/28"},
	})
	require.NoError(t, err)
	s.becomes(none, meta.ConditionTrue, ipam.ReasonValidated, "")
}

// TestOverlappingPoolInOneSpaceIsRefused checks that the second pool is created as soon as it has room (scenario 54).
func TestOverlappingPoolInOneSpaceIsRefused(t *testing.T) {
	s := begin(t)
	s.run()
	first := s.pool("first", sixteen)
	s.becomes(first, meta.ConditionTrue, ipam.ReasonPoolCreated, "")
	second := s.pool("second", ipam.IPPoolSpec{CIDR: "10.30.0.8/29"})
	s.becomes(second, meta.ConditionFalse, ipam.ReasonError, "overlap")
	other := s.pool("other", ipam.IPPoolSpec{CIDR: "10.30.0.8/29", SpaceRef: s.space("another")})
	s.becomes(other, meta.ConditionTrue, ipam.ReasonPoolCreated, "")
	s.remove(first)
	s.vanishes(first)
	s.becomes(second, meta.ConditionTrue, ipam.ReasonPoolCreated, "")
}

// Scenario 57.
func TestPoolDuringACarveOutageKeepsItsFigures(t *testing.T) {
	s := begin(t)
	s.run()
	p := s.pool("web", sixteen)
	s.becomes(p, meta.ConditionTrue, ipam.ReasonPoolCreated, "")
	s.line.cut.Store(true)
	s.becomes(p, meta.ConditionUnknown, ipam.ReasonReconciling, "Carve does not respond")
	require.Equal(t, "16", p.Status.Total, "what was known can be read")
	s.line.cut.Store(false)
	s.becomes(p, meta.ConditionTrue, ipam.ReasonReconciled, "")

	s.line.cut.Store(true)
	s.remove(p)
	s.becomes(p, meta.ConditionUnknown, ipam.ReasonReconciling, "Carve does not respond")
	s.update(p, func() { p.Annotations = map[string]string{ipam.AbandonRemote: "true"} })
	s.vanishes(p)
	require.NotNil(t, s.remote("web"))
}

// TestChildWaitsForRoomAndParentForItsChildren checks that a child waits for room in its parent, and that the deletion of the parent waits for its
// children.
func TestChildWaitsForRoomAndParentForItsChildren(t *testing.T) {
	s := begin(t)
	s.run()
	length := int32(29)
	parent := s.pool("parent", sixteen)
	child := func(name string) *ipam.IPPool {
		return s.pool(name, ipam.IPPoolSpec{ParentRef: &ipam.ParentRef{Name: "parent"}, PrefixLength: &length})
	}
	a, b := child("a"), child("b")
	s.becomes(a, meta.ConditionTrue, ipam.ReasonPoolCreated, "")
	s.becomes(b, meta.ConditionTrue, ipam.ReasonPoolCreated, "")
	s.becomes(parent, meta.ConditionTrue, ipam.ReasonPoolFull, "")
	c := child("c")
	s.becomes(c, meta.ConditionFalse, ipam.ReasonPoolFull, "")
	require.True(t, condition.IsStatusConditionTrue(c.Status.Conditions, conditions.Stalled))
	s.remove(a)
	s.vanishes(a)
	s.becomes(c, meta.ConditionTrue, ipam.ReasonPoolCreated, "")
	s.remove(parent)
	s.becomes(parent, meta.ConditionUnknown, ipam.ReasonReconciling, "2 child pools")
	s.remove(b)
	s.remove(c)
	s.vanishes(parent)
}

func TestAPIServerRefusesAnInvalidPool(t *testing.T) {
	s := begin(t)
	length := int32(29)
	for says, spec := range map[string]ipam.IPPoolSpec{
		"existing excludes all other fields":    {Existing: "web", Description: "mine"},
		"set existing, cidr, or parentRef with": {Description: "nothing"},
		"prefixLength requires parentRef":       {CIDR: "10.0.0.0/24", PrefixLength: &length},
		"at most one of parentRef and":          {CIDR: "10.0.0.0/24", ParentRef: &ipam.ParentRef{Name: "a"}, SpaceRef: &ipam.PoolRef{Name: "b"}},
		"without bits set after its prefix":     {CIDR: "10.0.0.1/24"},
		"exactly one of cidr, first, last, or":  {CIDR: "10.0.0.0/24", Reservations: []ipam.Reservation{{From: "10.0.0.1"}}},
	} {
		err := world.Client.Create(t.Context(), &ipam.IPPool{ObjectMeta: meta.ObjectMeta{Name: "x"}, Spec: spec})
		require.True(t, api.IsInvalid(err), "%s: %v", says, err)
		require.ErrorContains(t, err, says)
	}
	err := world.Client.Create(t.Context(), &ipam.IPPool{ObjectMeta: meta.ObjectMeta{Name: "a.b"}, Spec: sixteen})
	require.ErrorContains(t, err, "set spec.name")
	named := sixteen
	named.Name = "a-b"
	p := s.pool("a.b", named)
	p.Spec.CIDR = "10.30.0.0/27"
	require.ErrorContains(t, world.Client.Update(t.Context(), p), "cannot be changed: create another pool")
}
