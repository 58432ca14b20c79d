package rows_test

import (
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// The test changes each field of a claim, in one of three otherwise equal claims. textOf reuses the text of equal claims. Its result must always
// equal the text of the claim alone.
func TestHoldTextMatchesItsClaim(t *testing.T) {
	t.Parallel()
	length, at, id := 24, time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC), ipam.ID{1}
	full := ipam.Claim{
		Metadata: ipam.Metadata{
			UID: id, Name: "n", Project: "q", Region: "r", Generation: 2, Revision: id,
			Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"}, GeneratedIn: 'x', GeneratedFrom: "g-", CreatedAt: at, UpdatedAt: at.Add(time.Second), CreatedBy: "somebody",
		},
		ProjectID: id, PoolID: id, PoolProjectID: id, AllocationID: id,
		Block: netip.MustParsePrefix("10.0.0.0/24"), Pool: ipam.Ref{Project: "platform", Name: "p"},
		Class: ipam.ClassRef{ID: id, Ref: ipam.Ref{Project: "platform", Name: "c"}}, ReclaimPolicy: ipam.ReclaimRetain, ReuseAfter: time.Hour,
		Allocated: ipam.Allocated{Revision: id, UpdatedAt: at, CreatedAt: at, CreatedBy: "somebody"},
		Spec: ipam.ClaimSpec{
			ClassName: "c", Scope: map[string]string{"role": "x"}, PoolRef: ipam.Ref{Project: "platform", Name: "p"}, PoolSelector: &ipam.Selector{},
			AllocationRef: "a", AllocationOf: "b",
			PrefixLength: &length, Family: ipam.IPv6, CIDR: netip.MustParsePrefix("10.0.0.0/24"), Address: netip.MustParseAddr("10.0.0.1"),
			ReclaimPolicy: ipam.ReclaimRetain, OwnerRef: &ipam.OwnerRef{Name: "o"},
			MaxConsumers: 2, WhenUnused: ipam.UnusedDelete, Consumers: []ipam.NewConsumer{{}},
		},
		Consumers: 1,
	}
	var plain ipam.Claim
	plain.Block = netip.MustParsePrefix("10.0.0.0/32")
	var each func(name string, full, one reflect.Value, claim *ipam.Claim)
	each = func(name string, full, one reflect.Value, claim *ipam.Claim) {
		if one.Kind() == reflect.Struct && one.CanAddr() && one.Type().PkgPath() == reflect.TypeFor[ipam.Claim]().PkgPath() {
			for i := range one.NumField() {
				each(name+"."+one.Type().Field(i).Name, full.Field(i), one.Field(i), claim)
			}
			return
		}
		was := reflect.ValueOf(one.Interface())
		require.False(t, full.IsZero(), "this test must set %s", name)
		one.Set(full)
		want := []string{texts(t, &plain)[0], texts(t, claim)[0], texts(t, &plain)[0]}
		require.Equal(t, want, texts(t, &plain, claim, &plain), name)
		one.Set(was)
	}
	one := plain
	each("claim", reflect.ValueOf(full), reflect.ValueOf(&one).Elem(), &one)
}

// texts returns the values of the column doc for claims.
func texts(t *testing.T, claims ...*ipam.Claim) []string {
	t.Helper()
	_, args, err := rows.NewClaims.Arrays("hold_insert", claims)
	require.NoError(t, err)
	doc := slices.IndexFunc(query.Columns("hold_insert"), func(c query.Column) bool { return c.Name == "doc" })
	list, several := args[doc].([]string)
	if !several {
		list = []string{args[doc].(string)} //nolint:forcetypeassert // what else it could be fails the test
	}
	return list
}
