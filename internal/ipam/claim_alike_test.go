package ipam_test

import (
	"net/netip"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
)

// The test compares two specs that differ in one field only, for each field. So it fails if a new field is added that Alike does not compare.
func TestDifferentSpecsAreNotAlike(t *testing.T) {
	t.Parallel()
	length := 24
	full := reflect.ValueOf(ipam.ClaimSpec{
		ClassName: "c", Scope: map[string]string{"role": "x"}, PoolRef: ipam.Ref{Name: "p"}, PoolSelector: &ipam.Selector{}, AllocationRef: "a", AllocationOf: "b",
		PrefixLength: &length, Family: ipam.IPv6, CIDR: netip.MustParsePrefix("10.0.0.0/24"), Address: netip.MustParseAddr("10.0.0.1"),
		ReclaimPolicy: ipam.ReclaimRetain, OwnerRef: &ipam.OwnerRef{Name: "o"},
		MaxConsumers: 2, WhenUnused: ipam.UnusedDelete, Consumers: []ipam.NewConsumer{{}},
	})
	for i := range full.NumField() {
		name := full.Type().Field(i).Name
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.False(t, full.Field(i).IsZero(), "this test must set it")
			var plain, one ipam.ClaimSpec
			reflect.ValueOf(&one).Elem().Field(i).Set(full.Field(i))
			other := name == "OwnerRef" || name == "Consumers" // Alike ignores owners and consumers
			require.Equal(t, other, plain.Alike(&one))
			require.Equal(t, other, one.Alike(&plain))
		})
	}
}

func TestSpecsAreAlikeByValue(t *testing.T) {
	t.Parallel()
	a, b, c := 24, 24, 25
	spec := func(bits *int) *ipam.ClaimSpec {
		return &ipam.ClaimSpec{PoolRef: ipam.Ref{Project: "platform", Name: "p"}, PrefixLength: bits}
	}
	require.True(t, spec(&a).Alike(spec(&b)), "lengths at two places")
	require.False(t, spec(&a).Alike(spec(&c)))
	require.False(t, spec(&a).Alike(spec(nil)))
	selector := &ipam.ClaimSpec{PoolSelector: &ipam.Selector{}}
	require.False(t, selector.Alike(selector), "selectors are not looked into")
}
