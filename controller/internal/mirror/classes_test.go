package mirror_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/carve-ipam/carve/client/patch"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"

	carve "github.com/carve-ipam/carve/client"
)

func TestClassIsCreatedChangedAndDeletedOnceUnused(t *testing.T) {
	s := begin(t)
	s.run()
	length := int32(30)
	c := s.class("web", ipam.IPClassSpec{IPFamily: "IPv4", DefaultPrefixLength: &length, ReuseAfterLost: "1m30s"})
	spec := sixteen
	spec.ClassNames = []ipam.Name{"web"}
	p := s.pool("web", spec) // the controller may see the pool before the class
	s.becomes(c, meta.ConditionTrue, ipam.ReasonReconciled, "")
	s.becomes(p, meta.ConditionTrue, ipam.ReasonPoolCreated, "")
	block, err := world.Carve.Claim(t.Context(), s.project, "a", carve.IPClaimSpec{ClassName: "web"})
	require.NoError(t, err)
	require.Equal(t, 30, block.Bits())
	s.eventually("figures", func() bool {
		s.becomes(c, meta.ConditionTrue, ipam.ReasonReconciled, "")
		return c.Status.Used == "4" && c.Status.BackingPools == 1
	})

	_, err = patch.Class(world.Carve, s.project, "web").Change(t.Context(), func(c *carve.IPClass) error { c.Spec.ReuseAfter = "1h"; return nil })
	require.NoError(t, err)
	s.becomes(c, meta.ConditionFalse, ipam.ReasonError, "spec.reuseAfter")
	s.update(c, func() { c.Spec.ReuseAfter = "60m" })
	s.becomes(c, meta.ConditionTrue, ipam.ReasonReconciled, "")

	s.remove(c)
	s.becomes(c, meta.ConditionUnknown, ipam.ReasonReconciling, "The object is deleted when it is empty")
	s.release("a")
	s.remove(p)
	s.vanishes(p)
	s.vanishes(c)
}

func TestExistingClassIsShownAndNotOwned(t *testing.T) {
	s := begin(t)
	_, err := world.Carve.CreateClass(t.Context(), s.project, carve.IPClassCreate{
		Metadata: carve.CreateMetadata{Name: "old"}, Spec: carve.IPClassSpec{IPFamily: carve.IPFamilyIPv6},
	})
	require.NoError(t, err)
	s.run()
	c := s.class("shown", ipam.IPClassSpec{Existing: "old"})
	s.becomes(c, meta.ConditionTrue, ipam.ReasonValidated, "")
	require.Equal(t, "IPv6", c.Status.IPFamily)
	require.Empty(t, c.Finalizers)
}
