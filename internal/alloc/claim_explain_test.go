package alloc_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

func TestExplanationEqualsTheResultOfCreation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, platform, class("net", sharedClass, defaultClass, lengths(24, 28, 26), carving(ipam.FirstFit)))
	b.class(t, platform, class("empty", sharedClass))
	b.poolIn(t, platform, root("eu", "10.0.0.0/24", backing("net")))
	b.poolIn(t, platform, root("us", "10.0.1.0/25", backing("net")))
	b.pool(t, root("mine", "192.168.0.0/24"))
	b.pool(t, root("bounded", "10.8.0.0/16", bounds(20, 26)))
	b.claim(t, byClass("whole", "net", length(24)))
	viewer := b.acting("corp:viewer", tenancy.Viewer, project)

	for _, c := range []struct {
		name   string
		claim  ipam.Claim
		remedy string // pointer and value of the first remedy
	}{
		{"Default", byClass("", ""), ""},
		{"ByPool", claim("", "mine", 25), ""},
		{"TooLarge", byClass("", "net", length(23)), "/spec/prefixLength 24"},
		{"Full", byClass("", "net", length(24)), "/spec/prefixLength 25"},
		{"NoPool", byClass("", "empty"), " "},
		{"NoClass", byClass("", "none"), "/spec/className "},
		{"NoFamily", byClass("", "", family(ipam.IPv6)), "/spec/className "},
		{"OtherFamily", byClass("", "net", family(ipam.IPv6)), "/spec/ipFamily "},
		{"NeverInPool", claim("", "mine", 16), "/spec/prefixLength 24"},
		{"LargerThanBounds", claimOf("", "bounded", exactly("10.8.0.0/16")), "/spec/cidr 10.8.0.0/20"},
		{"SmallerThanBounds", claimOf("", "bounded", exactly("10.8.0.4/30")), "/spec/cidr 10.8.0.0/26"},
		{"AddressOutsideBounds", claimOf("", "bounded", hostAddress("10.8.0.4")), "/spec/address "},
		{"NoMatch", selecting("", ipam.Selector{MatchLabels: labels("a", "b")}), "/spec/poolSelector "},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := b.dump(t)
			got, err := b.ExplainClaim(viewer, project, c.claim)
			require.NoError(t, err)
			require.Equal(t, before, b.dump(t), "nothing is written")

			c.claim.Metadata = meta("real")
			made, err := b.CreateClaim(b.ctx, project, c.claim, usecase.Request{})
			if c.remedy == "" {
				require.NoError(t, err)
				require.Equal(t, []any{made.Value.Block, made.Value.Pool, made.Value.Class, made.Value.ReclaimPolicy},
					[]any{got.Claim.Block, got.Claim.Pool, got.Claim.Class, got.Claim.ReclaimPolicy})
				require.Nil(t, got.Refusal)
				require.Equal(t, ipam.OutcomeChosen, got.Steps[len(got.Steps)-1].Outcome)
				b.release(t, "real")
				return
			}
			e := refused(t, err, got.Refusal.Code)
			require.Equal(t, e.Message, got.Refusal.Message)
			require.Equal(t, c.remedy, got.Remedies[0].Pointer+" "+got.Remedies[0].Value)
			require.NotEmpty(t, got.Remedies[0].Detail)
			require.NotContains(t, fmt.Sprint(got.Steps), "platform/eu", "pools of the platform are not the consumer's to know")
			require.NotContains(t, fmt.Sprint(got.Steps), "platform/us")
		})
	}
	_, err := b.ExplainClaim(b.acting("corp:stranger", tenancy.Admin, other), project, byClass("", ""))
	refused(t, err, ipam.CodeNotFound)
}

// The explanation names the pool that would serve the claim, because the claim would name it too. It hides the names of the other pools.
func TestExplanationNamesThePoolThatWouldServe(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, platform, class("net", sharedClass, lengths(24, 28, 26)))
	b.poolIn(t, platform, root("eu", "10.0.0.0/26", backing("net")))
	b.poolIn(t, platform, root("us", "10.0.1.0/24", backing("net")))
	b.claim(t, byClass("whole", "net"))
	got, err := b.ExplainClaim(b.ctx, project, byClass("", "net"))
	require.NoError(t, err)
	var pools []string
	for _, s := range got.Steps {
		if s.Kind == ipam.StepPool {
			pools = append(pools, string(s.Outcome)+" "+s.Name)
		}
	}
	require.Equal(t, []string{"skipped platform/(hidden)", "chosen platform/us"}, pools)
	require.Equal(t, "platform/us", got.Claim.Pool.String())
}

func TestExplanationOfARebindNamesTheRetainedBlock(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	kept := b.claim(t, claim("c", "net", 30, retain))
	b.release(t, "c")
	got, err := b.ExplainClaim(b.ctx, project, again("", kept.AllocationID))
	require.NoError(t, err)
	require.Equal(t, []ipam.Step{{
		Kind: ipam.StepPool, Name: "acme/net", Outcome: ipam.OutcomeChosen,
		Detail: "It holds " + kept.Block.String() + " for the project, as retained allocation " + kept.AllocationID.String() + ".",
	}}, got.Steps)
}

func TestExplanationNamesTheQuotaThatDecides(t *testing.T) {
	t.Parallel()
	b := setupClass(t)
	one := int64(1)
	_, err := b.PutQuota(b.ctx, project, ipam.Quota{Metadata: meta("q"), Spec: ipam.QuotaSpec{Limits: ipam.QuotaLimits{Claims: &one}}}, usecase.Request{})
	require.NoError(t, err)
	got, err := b.ExplainClaim(b.ctx, project, byClass("", "net"))
	require.NoError(t, err)
	require.Equal(t, ipam.Step{Kind: ipam.StepQuota, Name: "acme/q", Outcome: ipam.OutcomeAllowed, Detail: "In use: 0 of 1 claim."}, got.Steps[len(got.Steps)-1])
	b.claim(t, byClass("a", "net"))
	got, err = b.ExplainClaim(b.ctx, project, byClass("", "net"))
	require.NoError(t, err)
	last := got.Steps[len(got.Steps)-1]
	require.Equal(t, []any{ipam.StepQuota, "acme/q", ipam.OutcomeRefused, ipam.CodeQuotaExceeded}, []any{last.Kind, last.Name, last.Outcome, last.Code})
	require.Contains(t, got.Remedies[0].Detail, "acme/q")
}
