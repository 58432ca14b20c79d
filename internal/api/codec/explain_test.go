package codec

import (
	"encoding/json"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/claims"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func TestExplanationsOfClaimsThatWouldBeBound(t *testing.T) {
	t.Parallel()

	t.Run("ByAClass", func(t *testing.T) {
		t.Parallel()
		c := classClaim()
		got := ExplanationOf(c.Spec, claims.Explanation{Claim: &c, Steps: []ipam.Step{
			{Kind: ipam.StepClass, Name: "platform/per-cluster", Outcome: ipam.OutcomeChosen, Detail: "The class of this name."},
			{Kind: ipam.StepPool, Name: "platform/(hidden)", Outcome: ipam.OutcomeChosen, Detail: "It has room."},
			{Kind: ipam.StepQuota, Name: "team-a/all", Outcome: ipam.OutcomeAllowed, Detail: "In use: 1 of 2."},
		}})
		require.Equal(t, gen.ClaimExplanation{
			Outcome: gen.ClaimOutcomeBound, Detail: "10.20.16.0/26 would be carved from pool team-a/per-cluster-0123456789ab by class platform/per-cluster.",
			ClassName: "per-cluster", ClassProject: "platform",
			PoolRef:       &gen.ResolvedRef{Project: "team-a", Name: "per-cluster-0123456789ab"},
			AllocatedCIDR: "10.20.16.0/26", PrefixLength: new(26), ReclaimPolicy: gen.ReclaimPolicyDelete,
			Steps: []gen.DecisionStep{
				{Kind: gen.DecisionKindClass, Name: "platform/per-cluster", Outcome: gen.DecisionOutcomeChosen, Detail: "The class of this name."},
				{Kind: gen.DecisionKindPool, Name: "platform/(hidden)", Outcome: gen.DecisionOutcomeChosen, Detail: "It has room."},
				{Kind: gen.DecisionKindQuota, Name: "team-a/all", Outcome: gen.DecisionOutcomeAllowed, Detail: "In use: 1 of 2."},
			},
			Remedies: []gen.Remedy{},
		}, got)
	})

	t.Run("ByAPool", func(t *testing.T) {
		t.Parallel()
		c := boundClaim()
		text, err := json.Marshal(ExplanationOf(c.Spec, claims.Explanation{Claim: &c}))
		require.NoError(t, err)
		require.JSONEq(t, `{"outcome": "Bound", "detail": "10.20.4.16/28 would be carved from pool team-a/edge.", "poolRef": {"project": "team-a", "name": "edge"},
			"allocatedCIDR": "10.20.4.16/28", "prefixLength": 28, "reclaimPolicy": "Retain", "steps": [], "remedies": []}`, string(text))
	})
}

func TestExplanationOfARebind(t *testing.T) {
	t.Parallel()
	c := boundClaim()
	c.Spec.AllocationRef = c.AllocationID.String()
	require.Equal(t, "10.20.4.16/28 would be bound again in pool team-a/edge.", ExplanationOf(c.Spec, claims.Explanation{Claim: &c}).Detail)
}

func TestExplanationsOfClaimsThatWouldBeRefused(t *testing.T) {
	t.Parallel()
	rejected := ipam.Errorf(ipam.CodePrefixLengthRejected, "Class platform/standard hands out /22 to /28, not /20.")
	rejected.Figures = ipam.Figures{WantedPrefixLength: new(20), Class: "platform/standard"}
	got := ExplanationOf(ipam.ClaimSpec{ClassName: "standard"}, claims.Explanation{
		Refusal: rejected,
		Steps: []ipam.Step{{
			Kind: ipam.StepClass, Name: "platform/standard", Outcome: ipam.OutcomeRefused, Code: ipam.CodePrefixLengthRejected, Detail: "Not /20.",
		}},
		Remedies: []claims.Remedy{{Pointer: "/spec/prefixLength", Value: "22", Detail: "Ask for a /22."}, {Detail: "Have another pool list it."}},
	})
	require.Equal(t, gen.ClaimExplanation{
		Outcome: gen.ClaimOutcomeRefused, Code: gen.ProblemCodePrefixLengthRejected, Detail: "Class platform/standard hands out /22 to /28, not /20.",
		ClassName: "standard", ClassProject: "platform", PrefixLength: new(20),
		Steps: []gen.DecisionStep{{
			Kind: gen.DecisionKindClass, Name: "platform/standard", Outcome: gen.DecisionOutcomeRefused, Code: gen.ProblemCodePrefixLengthRejected, Detail: "Not /20.",
		}},
		Remedies: []gen.Remedy{{Pointer: "/spec/prefixLength", Value: "22", Detail: "Ask for a /22."}, {Detail: "Have another pool list it."}},
	}, got)

	t.Run("NameTheChosenClass", func(t *testing.T) {
		t.Parallel()
		got := ExplanationOf(ipam.ClaimSpec{}, claims.Explanation{
			Refusal: ipam.Errorf(ipam.CodeQuotaExceeded, "Over it."),
			Steps: []ipam.Step{
				{Kind: ipam.StepClass, Name: "team-a/web", Outcome: ipam.OutcomeChosen},
				{Kind: ipam.StepQuota, Name: "team-a/all", Outcome: ipam.OutcomeRefused},
			},
		})
		require.Equal(t, []string{"team-a", "web"}, []string{got.ClassProject, got.ClassName})
	})

	t.Run("NameNoMissingClass", func(t *testing.T) {
		t.Parallel()
		text, err := json.Marshal(ExplanationOf(ipam.ClaimSpec{ClassName: "gold"}, claims.Explanation{
			Refusal: ipam.Errorf(ipam.CodeNotFound, "Class team-a/gold was not found."),
			Steps:   []ipam.Step{{Kind: ipam.StepClass, Name: "team-a/gold", Outcome: ipam.OutcomeRefused, Code: ipam.CodeNotFound, Detail: "Not found."}},
		}))
		require.NoError(t, err)
		require.NotContains(t, string(text), "className")
		require.NotContains(t, string(text), "prefixLength")
		require.NotContains(t, string(text), "poolRef")
	})

	t.Run("ContainTheRequestedLength", func(t *testing.T) {
		t.Parallel()
		refused := claims.Explanation{Refusal: ipam.Errorf(ipam.CodeNoDefaultClass, "None.")}
		require.Equal(t, 27, *ExplanationOf(ipam.ClaimSpec{PrefixLength: new(27)}, refused).PrefixLength)
		require.Equal(t, 12, *ExplanationOf(ipam.ClaimSpec{CIDR: netip.MustParsePrefix("10.0.0.0/12")}, refused).PrefixLength)
		require.Equal(t, 128, *ExplanationOf(ipam.ClaimSpec{Address: netip.MustParseAddr("2001:db8::1")}, refused).PrefixLength)
	})
}
