package api

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/netip"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// shown returns all examples of a schema in the contract's requests and responses.
func shown(t *testing.T, schema string) map[string][]byte {
	t.Helper()
	doc, err := gen.GetSpec()
	require.NoError(t, err)
	out := map[string][]byte{}
	add := func(of string, content openapi3.Content) {
		for _, body := range content {
			if body.Schema.Ref != "#/components/schemas/"+schema {
				continue
			}
			for name, example := range body.Examples {
				text, err := json.Marshal(example.Value.Value)
				require.NoError(t, err)
				out[of+"/"+name] = text
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
		for _, op := range doc.Paths.Value(path).Operations() {
			if op.RequestBody != nil {
				add(op.OperationID, op.RequestBody.Value.Content)
			}
			for status, answer := range op.Responses.Map() {
				add(op.OperationID+status, answer.Value.Content)
			}
		}
	}
	require.NotEmpty(t, out, "the contract shows no %s", schema)
	return out
}

func decoded[T any](t *testing.T, text []byte) T {
	t.Helper()
	var v T
	require.NoError(t, json.Unmarshal(text, &v))
	return v
}

// The server must accept the contract's examples of requests.
func TestContractRequestExamplesAreValid(t *testing.T) {
	t.Parallel()
	for name, text := range shown(t, "IPClassCreate") {
		spec, err := codec.ClassSpec(decoded[gen.IPClassCreate](t, text).Spec)
		require.NoError(t, err, name)
		require.NoError(t, spec.Check(), name)
	}
	for name, text := range shown(t, "IPPoolCreate") {
		spec, err := codec.PoolSpec("team-a", decoded[gen.IPPoolCreate](t, text).Spec)
		require.NoError(t, err, name)
		require.NoError(t, spec.Check(), name)
	}
	for name, text := range shown(t, "IPClaimCreate") {
		spec, err := codec.ClaimSpec("team-a", decoded[gen.IPClaimCreate](t, text).Spec)
		require.NoError(t, err, name)
		require.NoError(t, spec.Check(), name)
	}
	for name, text := range shown(t, "ClaimExplanationRequest") {
		spec, err := codec.ClaimSpec("team-a", decoded[gen.ClaimExplanationRequest](t, text).Spec)
		require.NoError(t, err, name)
		require.NoError(t, spec.Check(), name)
	}
	for name, text := range shown(t, "IPClassPatch") {
		class, err := codec.PatchClass(text, ipam.ClassStatus{})(anyClass())
		require.NoError(t, err, name)
		require.NoError(t, class.Spec.Check(), name)
	}
	for name, text := range shown(t, "IPPoolPatch") {
		pool, err := codec.PatchPool(text, ipam.Pool{})(anyPool())
		require.NoError(t, err, name)
		require.NoError(t, pool.Spec.Check(), name)
	}
}

// The contract's examples of responses must look as the server would write them: with defaults, short durations and no empty fields.
func TestContractResponseExamplesMatchTheEncoding(t *testing.T) {
	t.Parallel()
	again := func(name string, want, got any) {
		t.Helper()
		x, err := json.Marshal(want)
		require.NoError(t, err)
		y, err := json.Marshal(got)
		require.NoError(t, err)
		require.JSONEq(t, string(x), string(y), name)
	}
	for name, text := range shown(t, "IPClass") {
		shows := decoded[gen.IPClass](t, text)
		spec, err := codec.ClassSpec(shows.Spec)
		require.NoError(t, err, name)
		again(name, shows.Spec, codec.ClassSpecOf(spec))

		s := shows.Status
		again(name, s, codec.ClassStatusOf(ipam.Class{
			Metadata: ipam.Metadata{CreatedAt: shows.Metadata.CreatedAt},
			Status: ipam.ClassStatus{
				BackingPools: s.BackingPools, ScopedPools: s.ScopedPools, Total: s.Capacity.Total, Available: s.Capacity.Available, LargestFree: s.LargestPrefixLength,
			},
		}))
	}
	for name, text := range shown(t, "IPPool") {
		shows := decoded[gen.IPPool](t, text)
		spec, err := codec.PoolSpec(shows.Metadata.Project, shows.Spec)
		require.NoError(t, err, name)
		again(name, shows.Spec, codec.PoolSpecOf(spec))
	}
	for name, text := range shown(t, "IPClaim") {
		shows := decoded[gen.IPClaim](t, text)
		spec, err := codec.ClaimSpec(shows.Metadata.Project, shows.Spec)
		require.NoError(t, err, name)
		again(name, shows.Spec, codec.ClaimOf(ipam.Claim{Spec: spec}).Spec)
		if shows.Status.ClassName == "" { // the claim has no class
			require.Equal(t, string(cmp.Or(spec.ReclaimPolicy, ipam.ReclaimDelete)), string(shows.Status.ReclaimPolicy), name)
		}
	}
}

// anyClass returns a class to which the contract's example patches can be applied.
func anyClass() ipam.Class {
	return ipam.Class{Spec: ipam.ClassSpec{
		Provisioner: ipam.ProvisionerNative, Family: ipam.IPv4, Strategy: ipam.Sparse, MinPrefixLength: new(22), MaxPrefixLength: new(28),
		DefaultPrefixLength: new(24), ReclaimPolicy: ipam.ReclaimRetain, Visibility: ipam.VisibilityConsumer,
	}}
}

// anyPool returns a pool to which the contract's example patches can be applied.
func anyPool() ipam.Pool {
	block := netip.MustParsePrefix("2001:db8::/32")
	return ipam.Pool{Block: block, Spec: ipam.PoolSpec{CIDR: block, Visibility: ipam.VisibilityConsumer, Allocation: ipam.Allocating{Strategy: ipam.BestFit}}}
}
