package alloc_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

func matching(pairs ...string) ipam.Selector { return ipam.Selector{MatchLabels: labels(pairs...)} }

func requiring(requirements ...ipam.Requirement) ipam.Selector {
	return ipam.Selector{MatchExpressions: requirements}
}

func TestSelectorChoosesAmongMatchingPools(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("a-none", "10.0.0.0/16"))
	b.pool(t, root("b-fra", "10.1.0.0/16", labelled("site", "fra", "tier", "prod")))
	b.pool(t, root("c-ams", "10.2.0.0/16", labelled("site", "ams", "tier", "dev")))
	b.pool(t, root("d-ber", "10.3.0.0/16", labelled("site", "ber")))
	for _, c := range []struct {
		name     string
		selector ipam.Selector
		pool     string
	}{
		{"MatchLabels", matching("site", "ams"), "c-ams"},
		{"TwoLabels", matching("site", "fra", "tier", "prod"), "b-fra"},
		{"In", requiring(ipam.Requirement{Key: "site", Operator: ipam.OpIn, Values: []string{"ber", "zrh"}}), "d-ber"},
		{"NotInAlsoMatchesAbsent", requiring(ipam.Requirement{Key: "site", Operator: ipam.OpNotIn, Values: []string{"fra", "ber"}}), "a-none"},
		{"Exists", requiring(ipam.Requirement{Key: "tier", Operator: ipam.OpExists}), "b-fra"},
		{"DoesNotExist", requiring(ipam.Requirement{Key: "tier", Operator: ipam.OpDoesNotExist}, ipam.Requirement{Key: "site", Operator: ipam.OpExists}), "d-ber"},
		{"LabelsAndExpressions", ipam.Selector{
			MatchLabels:      labels("tier", "dev"),
			MatchExpressions: []ipam.Requirement{{Key: "site", Operator: ipam.OpNotIn, Values: []string{"fra"}}},
		}, "c-ams"},
		{"Empty", ipam.Selector{}, "a-none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := b.claim(t, selecting("c", c.selector, length(24)))
			require.Equal(t, ref(c.pool), got.Pool)
			require.Equal(t, &c.selector, got.Spec.PoolSelector)
			b.release(t, "c")
		})
	}
	for name, none := range map[string]ipam.Selector{
		"NoSuchValue":     matching("site", "zrh"),
		"BothCannot":      requiring(ipam.Requirement{Key: "site", Operator: ipam.OpExists}, ipam.Requirement{Key: "site", Operator: ipam.OpDoesNotExist}),
		"OneLabelMissing": matching("site", "ams", "tier", "prod"),
	} {
		t.Run("NoPoolMatches"+name, func(t *testing.T) {
			e := b.refuseClaim(t, selecting("c", none, length(24)), ipam.CodeNoPoolMatches)
			require.Equal(t, "/spec/poolSelector", e.Fields[0].Pointer)
		})
	}
	_, err := b.CreateProject(b.ctx, ipam.Project{Metadata: meta("umbrella")}, usecase.Request{})
	require.NoError(t, err)
	_, err = b.CreateClaim(b.ctx, "umbrella", selecting("c", ipam.Selector{}, length(24)), usecase.Request{})
	refused(t, err, ipam.CodeNoPoolMatches) // a selector never matches another project's pools
}

func TestSelectorTriesEveryEligiblePool(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, p := range []ipam.Pool{
		root("a", "10.0.0.0/31"), root("b", "10.0.1.0/32"), root("c-bounded", "10.0.2.0/24", bounds(24, 28)),
		root("d-six", "2001:db8::/64"), root("e", "10.0.3.0/31"),
	} {
		p.Labels = labels("for", "hosts")
		b.pool(t, p)
	}
	pick := func(name string) ipam.Claim {
		return selecting(name, matching("for", "hosts"), length(32), family(ipam.IPv4))
	}
	for i, want := range []string{"10.0.0.0/32", "10.0.0.1/32", "10.0.1.0/32", "10.0.3.0/32", "10.0.3.1/32"} {
		require.Equal(t, want, b.claim(t, pick(fmt.Sprintf("h%d", i))).Block.String())
	}
	e := b.refuseClaim(t, pick("more"), ipam.CodePoolExhausted)
	require.Equal(t, []string{"acme/a", "acme/b", "acme/e"}, e.Figures.PoolsTried, "all that could have served it")
	require.Equal(t, "0", e.Figures.AvailableAddresses)
	b.release(t, "h1")
	got := b.claim(t, pick("again"))
	require.Equal(t, []string{"acme/a", "10.0.0.1/32"}, []string{got.Pool.String(), got.Block.String()})
}

func TestSelectorRefusalExplainsWhyNoPoolCanServe(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24", labelled("a", "b"), bounds(24, 28)))
	one := matching("a", "b")
	b.refuseClaim(t, selecting("c", one, length(32)), ipam.CodePrefixLengthRejected)
	b.refuseClaim(t, selecting("c", one, length(16)), ipam.CodeNeverSatisfiable)
	b.refuseClaim(t, selecting("c", one, length(26), family(ipam.IPv6)), ipam.CodeFamilyMismatch)
	b.refuseClaim(t, selecting("c", one, exactly("10.0.1.0/26")), ipam.CodeNeverSatisfiable)
	b.refuseClaim(t, selecting("c", one), ipam.CodeInvalidArgument)
}

func TestSelectorFindsThePoolOfAnExactCIDR(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.CreateSpace(b.ctx, project, ipam.Space{Metadata: meta("blue")}, usecase.Request{})
	require.NoError(t, err)
	b.pool(t, root("a", "10.0.0.0/24", labelled("x", "y")))
	b.pool(t, root("b", "10.1.0.0/24", labelled("x", "y")))
	b.pool(t, root("c", "10.1.0.0/24", labelled("x", "y"), inSpace("blue")))
	want := func(name string) ipam.Claim { return selecting(name, matching("x", "y"), exactly("10.1.0.64/26")) }
	require.Equal(t, ref("b"), b.claim(t, want("first")).Pool)
	require.Equal(t, ref("c"), b.claim(t, want("second")).Pool, "taken in one, free in the next")
	b.refuseClaim(t, want("third"), ipam.CodeBlockTaken)
}

// A selector matches pools of both families. The prefix lengths in the refusal are for one family only, because lengths of two families are not
// comparable.
func TestSelectorOverBothFamiliesReportsExhaustion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("four", "10.0.0.0/31", labelled("x", "y"), byDefault(31)))
	b.pool(t, root("six", "2001:db8::/62", labelled("x", "y"), byDefault(63)))
	b.claim(t, claim("a", "four", 32))
	b.claim(t, claim("b", "six", 63))
	b.claim(t, claim("c", "six", 64))
	e := b.refuseClaim(t, selecting("more", matching("x", "y")), ipam.CodePoolExhausted)
	require.Equal(t, []int{63, 64}, []int{*e.Figures.WantedPrefixLength, *e.Figures.LargestFreePrefixLength})
	require.Equal(t, "18446744073709551617", e.Figures.AvailableAddresses)
	_, err := b.CreateClaimBatch(b.ctx, project, []ipam.Claim{selecting("more", matching("x", "y"))}, usecase.Request{})
	e.Figures.Fitting = new(int64(0)) // only the refusal of a batch has the number of claims that fit
	require.Equal(t, e.Figures, refused(t, err, ipam.CodePoolExhausted).Figures)
}
