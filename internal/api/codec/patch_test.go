package codec

import (
	"encoding/json"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
)

func TestPatchesChangeMutableFields(t *testing.T) {
	t.Parallel()

	t.Run("OfAPool", func(t *testing.T) {
		t.Parallel()
		was := childPool()
		got, err := PatchPool([]byte(`{
			"metadata": {"labels": {"env": null, "zone": "a"}, "annotations": null},
			"spec": {"visibility": null, "description": null, "allocation": {"strategy": "Sparse", "maxPrefixLength": null, "minPrefixLength": 25},
				"reservations": [{"last": 4}], "classNames": ["web"], "reuseAfter": "3h60m"}}`), ipam.Pool{})(was)
		require.NoError(t, err)
		want := childPool()
		want.Labels, want.Annotations = map[string]string{"tier": "web", "zone": "a"}, nil
		want.Spec.Visibility, want.Spec.Description = ipam.VisibilityConsumer, ""
		want.Spec.Allocation = ipam.Allocating{Strategy: ipam.Sparse, MinPrefixLength: new(25), DefaultPrefixLength: new(28)}
		want.Spec.Reservations = []ipam.Reservation{{Last: 4}}
		want.Spec.ClassNames, want.Spec.ReuseAfter = []string{"web"}, new(4*time.Hour)
		require.Equal(t, want, got)
		require.Equal(t, childPool(), was, "the function is pure")
	})

	t.Run("OfAPoolToItsDefaults", func(t *testing.T) {
		t.Parallel()
		got, err := PatchPool([]byte(`{"spec": {"allocation": null, "reservations": null, "classNames": null, "reuseAfter": null}}`), ipam.Pool{})(childPool())
		require.NoError(t, err)
		require.Equal(t, ipam.Allocating{Strategy: ipam.BestFit}, got.Spec.Allocation)
		require.Empty(t, got.Spec.Reservations)
		require.Nil(t, got.Spec.ClassNames)
		require.Nil(t, got.Spec.ReuseAfter)
	})

	t.Run("OfAPoolToNoCoolDown", func(t *testing.T) {
		t.Parallel()
		got, err := PatchPool([]byte(`{"spec": {"reuseAfter": "0s"}}`), ipam.Pool{})(childPool())
		require.NoError(t, err)
		require.Equal(t, new(time.Duration(0)), got.Spec.ReuseAfter)
	})

	t.Run("OfAClaim", func(t *testing.T) {
		t.Parallel()
		got, err := PatchClaim([]byte(`{"metadata": {"labels": null}, "spec": {"reclaimPolicy": null}}`))(boundClaim())
		require.NoError(t, err)
		want := boundClaim()
		want.Labels, want.Spec.ReclaimPolicy = nil, "" // the use case decides on the effect of ""
		require.Equal(t, want, got)
	})

	t.Run("OfAClaimByClass", func(t *testing.T) {
		t.Parallel()
		got, err := PatchClaim([]byte(`{"spec": {"reclaimPolicy": "Retain", "className": "per-cluster"}}`))(classClaim())
		require.NoError(t, err)
		want := classClaim()
		want.Spec.ReclaimPolicy = ipam.ReclaimRetain
		require.Equal(t, want, got)
	})

	t.Run("OfAClass", func(t *testing.T) {
		t.Parallel()
		was := fullClass()
		got, err := PatchClass([]byte(`{
			"metadata": {"labels": {"env": null}},
			"spec": {"visibility": "platform", "isDefault": false, "strategy": "FirstFit", "allowedPrefixLengths": {"min": null, "max": 30},
				"defaultPrefixLength": 26, "reclaimPolicy": "Delete", "reuseAfter": "24h0m", "poolSelection": "FirstFit",
				"parameters": {"tier": null, "New": "3"}, "description": "d"}}`), ipam.ClassStatus{})(was)
		require.NoError(t, err)
		want := fullClass()
		want.Labels = map[string]string{"tier": "web"}
		want.Spec = ipam.ClassSpec{
			Provisioner: ipam.ProvisionerNative, Family: ipam.IPv4, Strategy: ipam.FirstFit, MaxPrefixLength: new(30), DefaultPrefixLength: new(26),
			ReclaimPolicy: ipam.ReclaimDelete, Visibility: ipam.VisibilityPlatform, ReuseAfter: new(24 * time.Hour), PoolSelection: ipam.PoolsByName, UniqueWithin: ipam.UniqueWithinSpace,
			Parameters: map[string]string{"example.com/tier": "gold", "Tier": "1", "New": "3"}, Description: "d",
		}
		require.Equal(t, want, got)
		require.Equal(t, fullClass(), was, "the function is pure")
	})

	t.Run("OfAClassToItsDefaults", func(t *testing.T) {
		t.Parallel()
		got, err := PatchClass([]byte(`{"spec": {"visibility": null, "isDefault": null, "strategy": null, "allowedPrefixLengths": null, "defaultPrefixLength": null,
			"reclaimPolicy": null, "reuseAfter": null, "poolSelection": null, "parameters": null, "description": null}}`), ipam.ClassStatus{})(fullClass())
		require.NoError(t, err)
		require.Equal(t, ipam.ClassSpec{
			Provisioner: ipam.ProvisionerNative, Family: ipam.IPv4, ReclaimPolicy: ipam.ReclaimDelete, Visibility: ipam.VisibilityConsumer,
			PoolSelection: ipam.PoolsByName, UniqueWithin: ipam.UniqueWithinSpace,
		}, got.Spec)
		got, err = PatchClass([]byte(`{"spec": {"emptyPoolTTL": null}}`), ipam.ClassStatus{})(scopedClass())
		require.NoError(t, err)
		require.Equal(t, new(24*time.Hour), got.Spec.EmptyPoolTTL)
	})

	t.Run("OfAProject", func(t *testing.T) {
		t.Parallel()
		was := ipam.Project{Metadata: meta("team-a"), Spec: ipam.ProjectSpec{DisplayName: "A", Description: "B"}}
		got, err := PatchProject([]byte(`{"spec": {"description": "C"}}`))(was)
		require.NoError(t, err)
		require.Equal(t, ipam.ProjectSpec{DisplayName: "A", Description: "C"}, got.Spec)
		got, err = PatchProject([]byte(`{"spec": null}`))(was)
		require.NoError(t, err)
		require.Equal(t, ipam.ProjectSpec{}, got.Spec)
	})

	t.Run("OfASpace", func(t *testing.T) {
		t.Parallel()
		got, err := PatchSpace([]byte(`{"spec": {"description": "lab"}}`))(ipam.Space{Metadata: meta("lab")})
		require.NoError(t, err)
		require.Equal(t, "lab", got.Spec.Description)
	})
}

// A client may read a resource, edit it and send all of it back as a patch.
func TestWholeResourceIsAValidPatch(t *testing.T) {
	t.Parallel()
	for _, p := range []ipam.Pool{childPool(), rootPool(), scopedPool(), servedPool()} {
		whole, err := json.Marshal(PoolOf(p, time.Now()))
		require.NoError(t, err)
		got, err := PatchPool(whole, p)(withoutStock(p))
		require.NoError(t, err)
		require.Equal(t, withoutStock(p), got)

		wire := PoolOf(p, time.Now())
		wire.Spec.Description, wire.Metadata.Labels = "edited", maps.Clone(wire.Metadata.Labels)
		wire.Metadata.Labels["new"] = "1"
		whole, err = json.Marshal(wire)
		require.NoError(t, err)
		got, err = PatchPool(whole, p)(withoutStock(p))
		require.NoError(t, err)
		require.Equal(t, "edited", got.Spec.Description)
		require.Equal(t, "1", got.Labels["new"])
	}
	for _, c := range []ipam.Claim{boundClaim(), classClaim()} {
		whole, err := json.Marshal(ClaimOf(c))
		require.NoError(t, err)
		got, err := PatchClaim(whole)(c)
		require.NoError(t, err)
		require.Equal(t, c, got)
	}
	for _, c := range []ipam.Class{fullClass(), scopedClass()} {
		whole, err := json.Marshal(ClassOf(c))
		require.NoError(t, err)
		stored := c
		stored.Status = ipam.ClassStatus{}
		got, err := PatchClass(whole, c.Status)(stored)
		require.NoError(t, err)
		require.Equal(t, stored, got)
	}
}

// withoutStock returns the pool without its free blocks, as a use case passes it to a mutate function.
func withoutStock(p ipam.Pool) ipam.Pool {
	p.Stock, p.Regional = ipam.Stock{}, nil
	return p
}

// A runway changes every second. So a patch may contain an older runway, which changes nothing.
func TestPatchWithAReadRunwayChangesNothing(t *testing.T) {
	t.Parallel()
	wire := PoolOf(servedPool(), time.Now())
	require.NotEmpty(t, wire.Status.Regions[0].Runway)
	wire.Status.Regions[0].Runway = "1m"
	whole, err := json.Marshal(wire)
	require.NoError(t, err)
	got, err := PatchPool(whole, servedPool())(withoutStock(servedPool()))
	require.NoError(t, err)
	require.Equal(t, withoutStock(servedPool()), got)

	wire.Status.Regions[0].Capacity.Available = "1"
	whole, err = json.Marshal(wire)
	require.NoError(t, err)
	_, err = PatchPool(whole, servedPool())(withoutStock(servedPool()))
	require.True(t, ipam.IsCode(err, ipam.CodeImmutableField), err)
}

func TestPatchChangesRegionsButNotTheHome(t *testing.T) {
	t.Parallel()
	for patch, want := range map[string][]string{
		`{"spec": {"regions": ["eu", "us"]}}`:                       {"eu", "us"},
		`{"spec": {"region": "eu", "regions": ["eu", "me", "us"]}}`: {"eu", "me", "us"},
		`{"spec": {"regions": null}}`:                               nil,
	} {
		got, err := PatchPool([]byte(patch), servedPool())(withoutStock(servedPool()))
		require.NoError(t, err, patch)
		require.Equal(t, want, got.Spec.Regions, patch)
		require.Equal(t, "eu", got.Spec.Region)
	}
	for _, patch := range []string{`{"spec": {"region": "us"}}`, `{"spec": {"region": null}}`} {
		_, err := PatchPool([]byte(patch), servedPool())(withoutStock(servedPool()))
		require.True(t, ipam.IsCode(err, ipam.CodeImmutableField), "%s: %v", patch, err)
	}
}

func TestPatchesOfImmutableFieldsAreRefused(t *testing.T) {
	t.Parallel()
	pool := func(patch string) error {
		_, err := PatchPool([]byte(patch), childPool())(withoutStock(childPool()))
		return err
	}
	claim := func(patch string) error {
		_, err := PatchClaim([]byte(patch))(boundClaim())
		return err
	}
	byClass := func(patch string) error {
		_, err := PatchClaim([]byte(patch))(classClaim())
		return err
	}
	class := func(patch string) error {
		stored := scopedClass()
		stored.Status = ipam.ClassStatus{}
		_, err := PatchClass([]byte(patch), scopedClass().Status)(stored)
		return err
	}
	for _, c := range []struct {
		promise string
		apply   func(string) error
		patch   string
		code    ipam.Code
		places  []string
	}{
		{"AnotherName", pool, `{"metadata": {"name": "x"}}`, ipam.CodeImmutableField, []string{"/metadata/name"}},
		{"NoName", pool, `{"metadata": {"name": null}}`, ipam.CodeImmutableField, []string{"/metadata/name"}},
		{"SeveralServerOwnedFields", pool, `{"metadata": {"uid": "x", "generation": 9, "createdAt": "2020-01-01T00:00:00Z"}}`, ipam.CodeImmutableField, []string{"/metadata/createdAt", "/metadata/generation", "/metadata/uid"}},
		{"AnotherBlock", pool, `{"spec": {"cidr": "10.0.0.0/8", "prefixLength": 8}}`, ipam.CodeImmutableField, []string{"/spec/cidr", "/spec/prefixLength"}},
		{"AnotherParent", pool, `{"spec": {"parentRef": {"name": "x"}}}`, ipam.CodeImmutableField, []string{"/spec/parentRef/name"}},
		{"NoParent", pool, `{"spec": {"parentRef": null}}`, ipam.CodeImmutableField, []string{"/spec/parentRef"}},
		{"ASpaceForAChild", pool, `{"spec": {"spaceRef": {"name": "x"}}}`, ipam.CodeImmutableField, []string{"/spec/spaceRef"}},
		{"AnotherStatus", pool, `{"status": {"phase": "Exhausted", "capacity": {"available": "0"}}}`, ipam.CodeImmutableField, []string{"/status/capacity/available", "/status/phase"}},
		{"AnotherPrefixLengthOfAClaim", claim, `{"spec": {"prefixLength": 29}}`, ipam.CodeImmutableField, []string{"/spec/prefixLength"}},
		{"AnotherWayToChoose", claim, `{"spec": {"poolRef": null, "poolSelector": {}}}`, ipam.CodeImmutableField, []string{"/spec/poolRef", "/spec/poolSelector"}},
		{"AnotherOwner", claim, `{"spec": {"ownerRef": {"kind": "x"}}}`, ipam.CodeImmutableField, []string{"/spec/ownerRef/kind"}},
		{"AnotherBlockInTheStatus", claim, `{"status": {"allocatedCIDR": "10.0.0.0/8"}}`, ipam.CodeImmutableField, []string{"/status/allocatedCIDR"}},
		{"AnotherCapacityThatCoolsDown", pool, `{"status": {"capacity": {"coolingDown": "0"}}}`, ipam.CodeImmutableField, []string{"/status/capacity/coolingDown"}},
		{"AScopeForAPool", pool, `{"status": {"scope": {"className": "a", "classProject": "b", "project": "c"}}}`, ipam.CodeImmutableField, []string{"/status/scope"}},
		{"AnotherClassOfAClaim", byClass, `{"spec": {"className": "gold"}}`, ipam.CodeImmutableField, []string{"/spec/className"}},
		{"AnotherScopeOfAClaim", byClass, `{"spec": {"scope": {"cluster": "b"}}}`, ipam.CodeImmutableField, []string{"/spec/scope/cluster"}},
		{"AClassForAClaimByPool", claim, `{"spec": {"className": "gold"}}`, ipam.CodeImmutableField, []string{"/spec/className"}},
		{"AnotherPolicyInTheStatusOfAClaim", claim, `{"status": {"reclaimPolicy": "Delete"}}`, ipam.CodeImmutableField, []string{"/status/reclaimPolicy"}},
		{"AnotherNameOfAClass", class, `{"metadata": {"name": "x"}}`, ipam.CodeImmutableField, []string{"/metadata/name"}},
		{"AnotherFamilyOfAClass", class, `{"spec": {"ipFamily": "IPv4"}}`, ipam.CodeImmutableField, []string{"/spec/ipFamily"}},
		{"AnotherProvisionerOfAClass", class, `{"spec": {"provisioner": "infoblox"}}`, ipam.CodeImmutableField, []string{"/spec/provisioner"}},
		{"OtherScopesOfAClass", class, `{"spec": {"poolPer": ["project"], "poolPrefixLength": 48}}`, ipam.CodeImmutableField, []string{"/spec/poolPer", "/spec/poolPrefixLength"}},
		{"NoScopesOfAClass", class, `{"spec": {"poolPer": null, "poolPrefixLength": null, "emptyPoolTTL": null}}`, ipam.CodeImmutableField, []string{"/spec/poolPer", "/spec/poolPrefixLength"}},
		{"AnotherStatusOfAClass", class, `{"status": {"backingPools": 7, "capacity": {"available": "1"}}}`, ipam.CodeImmutableField, []string{"/status/backingPools", "/status/capacity/available"}},

		{"AnUnknownFieldOfAClass", class, `{"spec": {"colour": "red"}}`, ipam.CodeInvalidArgument, []string{"/spec/colour"}},
		{"AFieldOfAClassInAnotherCase", class, `{"spec": {"isdefault": true}}`, ipam.CodeInvalidArgument, []string{"/spec/isdefault"}},
		{"AnUnknownField", pool, `{"spec": {"colour": "red"}}`, ipam.CodeInvalidArgument, []string{"/spec/colour"}},
		{"AnUnknownFieldAtTheTop", pool, `{"kind": "IPPool"}`, ipam.CodeInvalidArgument, []string{"/kind"}},
		{"AFieldOfCreationOnly", pool, `{"metadata": {"generateName": "x-"}}`, ipam.CodeInvalidArgument, []string{"/metadata/generateName"}},
		{"AFieldInAnotherCase", pool, `{"spec": {"Visibility": "shared"}}`, ipam.CodeInvalidArgument, []string{"/spec/Visibility"}},
		{"AnImmutableFieldInAnotherCase", claim, `{"spec": {"PrefixLength": 28}}`, ipam.CodeInvalidArgument, []string{"/spec/PrefixLength"}},
		{"AWrongType", pool, `{"metadata": {"uid": 5}}`, ipam.CodeInvalidArgument, []string{"/metadata/uid"}},
		{"AWrongTime", pool, `{"metadata": {"createdAt": "yesterday"}}`, ipam.CodeInvalidArgument, []string{"/metadata/createdAt"}},
		{"AStatusThatIsNoObject", pool, `{"status": "Ready"}`, ipam.CodeInvalidArgument, []string{"/status"}},
		{"HostBitsInAReservation", pool, `{"spec": {"reservations": [{"cidr": "10.20.4.1/24"}]}}`, ipam.CodeInvalidArgument, []string{"/spec/reservations/0/cidr"}},
	} {
		t.Run(c.promise, func(t *testing.T) {
			t.Parallel()
			var e *ipam.Error
			require.ErrorAs(t, c.apply(c.patch), &e)
			require.Equal(t, c.code, e.Code, e.Message)
			var places []string
			for _, f := range e.Fields {
				places = append(places, f.Pointer)
			}
			require.Equal(t, c.places, places)
		})
	}
}

// The test contains the examples of RFC 7396, appendix A, in which both documents are objects.
func TestMergePatchFollowsTheRFC(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
	} {
		var current map[string]any
		require.NoError(t, json.Unmarshal([]byte(c[0]), &current))
		got, err := applyPatch(current, []byte(c[1]), []string{"/a", "/b"})
		require.NoError(t, err)
		back, err := json.Marshal(got)
		require.NoError(t, err)
		require.JSONEq(t, c[2], string(back))
	}
}
