package alloc_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

const platform = ipam.PlatformProject

// setupClass makes a bundle with a shared platform class "net" and one pool that backs the class.
func setupClass(t *testing.T, options ...classOption) *bundle {
	t.Helper()
	b := setup(t)
	b.class(t, platform, class("net", append([]classOption{sharedClass, lengths(24, 28, 26)}, options...)...))
	b.poolIn(t, platform, root("eu", "10.0.0.0/22", backing("net")))
	return b
}

func TestClaimByClassFollowsTheClassPolicy(t *testing.T) {
	t.Parallel()
	b := setupClass(t, reclaiming(ipam.ReclaimRetain), carving(ipam.FirstFit))

	c := b.claim(t, byClass("web", "net"))
	require.Equal(t, "10.0.0.0/26", c.Block.String(), "family and length come from the class")
	require.Equal(t, ipam.Ref{Project: platform, Name: "eu"}, c.Pool)
	require.Equal(t, ipam.Ref{Project: platform, Name: "net"}, c.Class.Ref)
	require.Equal(t, ipam.ReclaimRetain, c.ReclaimPolicy)
	require.Empty(t, c.Spec.ReclaimPolicy, "the spec is as it was written")

	got, err := b.GetClaim(b.ctx, project, "web", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, c, got)

	a, err := b.GetAllocation(b.ctx, project, c.AllocationID.String(), usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, c.Class, a.Class, "the record names the class")
	require.Equal(t, ipam.ReclaimRetain, a.ReclaimPolicy)

	_, err = b.GetPool(b.acting("corp:neighbour", "admin", project), platform, "eu", usecase.Reading{})
	refused(t, err, ipam.CodeNotFound)

	b.release(t, "web")
	again := b.claim(t, again("once-more", c.AllocationID))
	require.Equal(t, c.Block, again.Block, "a retained block of a class is bound again without a grant")
	require.Equal(t, c.Class, again.Class)
}

func TestClaimMayNarrowButNotWidenItsClass(t *testing.T) {
	t.Parallel()
	b := setupClass(t)
	require.Equal(t, 28, b.claim(t, byClass("small", "net", length(28))).Block.Bits())
	require.Equal(t, "10.0.2.0/24", b.claim(t, byClass("exact", "net", exactly("10.0.2.0/24"))).Block.String())
	kept := b.claim(t, byClass("kept", "net", retain))
	require.Equal(t, ipam.ReclaimRetain, kept.ReclaimPolicy)

	for name, c := range map[string]struct {
		claim ipam.Claim
		code  ipam.Code
		field string
	}{
		"too large":       {byClass("x", "net", length(23)), ipam.CodePrefixLengthRejected, "/spec/prefixLength"},
		"too small":       {byClass("x", "net", length(29)), ipam.CodePrefixLengthRejected, "/spec/prefixLength"},
		"exact too small": {byClass("x", "net", exactly("10.0.3.0/30")), ipam.CodePrefixLengthRejected, "/spec/cidr"},
		"address":         {byClass("x", "net", hostAddress("10.0.3.1")), ipam.CodePrefixLengthRejected, "/spec/address"},
		"other family":    {byClass("x", "net", family(ipam.IPv6)), ipam.CodeFamilyMismatch, "/spec/ipFamily"},
		"exact of other":  {byClass("x", "net", exactly("2001:db8::/64")), ipam.CodeFamilyMismatch, "/spec/cidr"},
		"outside":         {byClass("x", "net", exactly("10.9.0.0/26")), ipam.CodeNeverSatisfiable, "/spec/cidr"},
	} {
		e := b.refuseClaim(t, c.claim, c.code)
		require.Equal(t, c.field, e.Fields[0].Pointer, name)
		require.Equal(t, "platform/net", e.Figures.Class, name)
		require.NotContains(t, e.Error(), "eu", "%s: the pool is not the consumer's to know", name)
	}
	e := b.refuseClaim(t, byClass("x", "net", length(29)), ipam.CodePrefixLengthRejected)
	require.Equal(t, []int{29, 24, 28}, []int{*e.Figures.WantedPrefixLength, *e.Figures.AllowedMin, *e.Figures.AllowedMax})
}

func TestClassNameResolvesInTheProjectBeforeThePlatform(t *testing.T) {
	t.Parallel()
	b := setupClass(t)
	refused(t, second(b.CreateClass(b.ctx, project, class("bad", sharedClass), false, usecase.Request{})), ipam.CodeInvalidArgument)
	b.claim(t, byClass("theirs", "net"))

	b.class(t, project, class("net", lengths(24, 30, 30)))
	e := b.refuseClaim(t, byClass("own", "net"), ipam.CodeNoPoolForClass)
	require.Equal(t, "acme/net", e.Figures.Class, "the project's own class comes first, even without a pool")
	require.Zero(t, *e.Figures.Pools)

	b.pool(t, root("mine", "192.168.0.0/24", backing("net")))
	c := b.claim(t, byClass("own", "net"))
	require.Equal(t, "acme/mine", c.Pool.String())
	require.Equal(t, 30, c.Block.Bits())

	b.neighbour(t)
	n, err := b.CreateClaim(b.ctx, other, byClass("n", "net"), usecase.Request{})
	require.NoError(t, err)
	require.Equal(t, "platform/eu", n.Value.Pool.String(), "the class of another project is nobody else's")

	b.class(t, project, class("private"))
	_, foreign := b.CreateClaim(b.ctx, other, byClass("x", "private"), usecase.Request{})
	_, missing := b.CreateClaim(b.ctx, other, byClass("x", "missing"), usecase.Request{})
	require.Equal(t, strings.ReplaceAll(refused(t, missing, ipam.CodeNotFound).Message, "missing", "private"), refused(t, foreign, ipam.CodeNotFound).Message)
	b.class(t, platform, class("inner"))
	require.Equal(t, "/spec/className", b.refuseClaim(t, byClass("x", "inner"), ipam.CodeNotFound).Fields[0].Pointer)
}

func TestClaimWithoutPoolOrClassGetsTheDefaultClass(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e := b.refuseClaim(t, byClass("a", ""), ipam.CodeNoDefaultClass)
	require.Contains(t, e.Message, "IPv4")

	b.class(t, platform, class("p4", sharedClass, defaultClass, lengths(24, 32, 28)))
	b.class(t, platform, class("p6", sharedClass, defaultClass, forFamily(ipam.IPv6), lengths(48, 64, 64)))
	b.poolIn(t, platform, root("four", "10.0.0.0/16", backing("p4")))
	b.poolIn(t, platform, root("six", "2001:db8::/40", backing("p6")))
	require.Equal(t, "platform/p4", b.claim(t, byClass("a", "")).Class.Ref.String())
	require.Equal(t, "platform/p6", b.claim(t, byClass("b", "", family(ipam.IPv6))).Class.Ref.String())
	require.Equal(t, "platform/p6", b.claim(t, byClass("c", "", exactly("2001:db8:1::/48"))).Class.Ref.String())
	require.Equal(t, "platform/p4", b.claim(t, byClass("d", "", hostAddress("10.0.9.9"))).Class.Ref.String())

	b.class(t, project, class("own", defaultClass, lengths(24, 32, 30)))
	b.pool(t, root("mine", "192.168.0.0/24", backing("own")))
	require.Equal(t, "acme/own", b.claim(t, byClass("e", "")).Class.Ref.String(), "the project's default comes before the platform's")
	require.Equal(t, "platform/p6", b.claim(t, byClass("f", "", family(ipam.IPv6))).Class.Ref.String())
}

func TestClassPoolsAreTriedInOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, platform, class("net", sharedClass, lengths(24, 28, 25), carving(ipam.FirstFit)))
	b.poolIn(t, platform, root("c", "10.0.2.0/24", backing("net")))
	b.poolIn(t, platform, root("a", "10.0.0.0/24", backing("net")))
	b.pool(t, root("b", "10.0.1.0/24", backing("net")))
	b.poolIn(t, platform, root("aa", "10.9.0.0/24")) // backs no class

	var got []string
	for i := range 6 {
		got = append(got, b.claim(t, byClass(fmt.Sprintf("c%d", i), "net")).Block.String())
	}
	require.Equal(t, []string{"10.0.0.0/25", "10.0.0.128/25", "10.0.1.0/25", "10.0.1.128/25", "10.0.2.0/25", "10.0.2.128/25"}, got,
		"by name, the caller's own among the platform's, and a full one is passed over in the same request")

	e := b.refuseClaim(t, byClass("more", "net"), ipam.CodePoolExhausted)
	require.Equal(t, []string{"platform/(hidden)", "acme/b", "platform/(hidden)"}, e.Figures.PoolsTried)
	require.Equal(t, "0", e.Figures.AvailableAddresses)
	require.Equal(t, "platform/net", e.Figures.Class)
	require.Len(t, e.Figures.Steps, 4)
	require.NotContains(t, fmt.Sprint(e.Message, e.Fields, e.Figures.Steps), "10.0.")

	b.release(t, "c4")
	require.Equal(t, "10.0.2.0/25", b.claim(t, byClass("more", "net")).Block.String())

	b.neighbour(t)
	_, err := b.CreateClaim(b.ctx, other, byClass("n", "net"), usecase.Request{})
	require.Equal(t, []string{"platform/(hidden)", "platform/(hidden)"}, refused(t, err, ipam.CodePoolExhausted).Figures.PoolsTried, "the pools of other consumers are not behind the class for anybody else")
}

func TestLeastUtilizedSpreadsClaimsBySize(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, platform, class("net", sharedClass, lengths(24, 32, 28), leastUtilized))
	b.poolIn(t, platform, root("a", "10.0.0.0/24", backing("net")))
	b.poolIn(t, platform, root("b", "10.0.1.0/24", backing("net")))
	b.poolIn(t, platform, root("c", "10.0.2.0/23", backing("net")))
	by := map[string]int{}
	for i := range 32 {
		by[b.claim(t, byClass(fmt.Sprintf("c%d", i), "net")).Pool.Name]++
	}
	require.Equal(t, map[string]int{"a": 8, "b": 8, "c": 16}, by, "each by its size")
}

func TestChangedClassAppliesToLaterClaims(t *testing.T) {
	t.Parallel()
	b := setupClass(t)
	before := b.claim(t, byClass("before", "net"))
	_, err := b.PatchClass(b.ctx, platform, "net", false, usecase.Request{}, func(c ipam.Class) (ipam.Class, error) {
		n := 28
		c.Spec.DefaultPrefixLength, c.Spec.ReclaimPolicy = &n, ipam.ReclaimRetain
		return c, nil
	})
	require.NoError(t, err)
	after := b.claim(t, byClass("after", "net"))
	require.Equal(t, 28, after.Block.Bits())
	require.Equal(t, ipam.ReclaimRetain, after.ReclaimPolicy)
	same, err := b.GetClaim(b.ctx, project, "before", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, before, same)
	put, err := b.PutClaim(b.ctx, project, byClass("before", "net"), usecase.Request{})
	require.NoError(t, err)
	require.True(t, put.Existed, "create-or-return goes by what was written")
	b.release(t, "before")
	_, err = b.GetAllocation(b.ctx, project, before.AllocationID.String(), usecase.Reading{})
	refused(t, err, ipam.CodeNotFound)

	_, err = b.PatchClass(b.ctx, platform, "net", false, usecase.Request{}, func(c ipam.Class) (ipam.Class, error) {
		c.Spec.Visibility = ipam.VisibilityConsumer
		return c, nil
	})
	require.NoError(t, err)
	b.refuseClaim(t, byClass("x", "net"), ipam.CodeNotFound)
}

func TestPoolThatNoLongerListsAClassStopsServingIt(t *testing.T) {
	t.Parallel()
	b := setupClass(t)
	c := b.claim(t, byClass("held", "net"))
	_, err := b.PatchPool(b.ctx, platform, "eu", usecase.Request{}, func(p ipam.Pool) (ipam.Pool, error) {
		p.Spec.ClassNames = nil
		return p, nil
	})
	require.NoError(t, err)
	b.refuseClaim(t, byClass("x", "net"), ipam.CodeNoPoolForClass)
	refused(t, b.DeleteClass(b.ctx, platform, "net", usecase.Request{}), ipam.CodeInUse)
	b.release(t, c.Name)
	require.NoError(t, b.DeleteClass(b.ctx, platform, "net", usecase.Request{}))
}

func TestConcurrentClaimsByClassGetDisjointBlocks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, platform, class("net", sharedClass, lengths(24, 32, 28)))
	for i := range 3 {
		b.poolIn(t, platform, root(fmt.Sprintf("p%d", i), fmt.Sprintf("10.0.%d.0/25", i), backing("net")))
	}
	second, _ := b.server(t)
	var wg sync.WaitGroup
	got, errs := make([]ipam.Claim, 24), make([]error, 24)
	for i := range got {
		wg.Go(func() {
			by := b.Service
			if i%2 == 1 {
				by = second
			}
			r, err := by.CreateClaim(b.ctx, project, byClass(fmt.Sprintf("c%d", i), "net"), usecase.Request{})
			got[i], errs[i] = r.Value, err
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for i, c := range got {
		require.NoError(t, errs[i])
		require.False(t, seen[c.Block.String()], c.Block)
		seen[c.Block.String()] = true
	}
	b.refuseClaim(t, byClass("more", "net"), ipam.CodePoolExhausted)
}

func TestBatchByClassUsesTheClassPools(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, platform, class("net", sharedClass, defaultClass, lengths(24, 28, 26), carving(ipam.FirstFit)))
	b.poolIn(t, platform, root("a", "10.0.0.0/25", backing("net")))
	b.poolIn(t, platform, root("b", "10.0.1.0/25", backing("net")))
	r, err := b.CreateClaimBatch(b.ctx, project, []ipam.Claim{byClass("a", "net"), byClass("b", ""), byClass("c", "net", length(27)), byClass("d", "net")}, usecase.Request{})
	require.NoError(t, err)
	var blocks []string
	for _, c := range r.Value {
		require.Equal(t, "platform/net", c.Class.Ref.String())
		blocks = append(blocks, c.Block.String())
	}
	require.Equal(t, []string{"10.0.0.0/26", "10.0.0.64/26", "10.0.1.0/27", "10.0.1.64/26"}, blocks)

	_, err = b.CreateClaimBatch(b.ctx, project, []ipam.Claim{byClass("e", "net", length(28)), byClass("f", "net")}, usecase.Request{})
	e := refused(t, err, ipam.CodePoolExhausted)
	require.NotContains(t, fmt.Sprint(e.Message, e.Fields, e.Figures), "platform/a")
	_, err = b.CreateClaimBatch(b.ctx, project, []ipam.Claim{byClass("e", "nowhere")}, usecase.Request{})
	require.Equal(t, "/claims/0/spec/className", refused(t, err, ipam.CodeNotFound).Fields[0].Pointer)
}

func TestQuotaOfAClassLimitsItsClaims(t *testing.T) {
	t.Parallel()
	b := setupClass(t)
	two := int64(2)
	_, err := b.PutQuota(b.ctx, project, ipam.Quota{Metadata: meta("q"), Spec: ipam.QuotaSpec{
		Scope: ipam.QuotaScope{Class: ipam.Ref{Project: platform, Name: "net"}}, Limits: ipam.QuotaLimits{Claims: &two},
	}}, usecase.Request{})
	require.NoError(t, err)
	b.pool(t, root("mine", "192.168.0.0/24"))
	b.claim(t, claim("other", "mine", 30))
	b.claim(t, byClass("a", "net"))
	b.claim(t, byClass("b", "net"))
	e := b.refuseClaim(t, byClass("c", "net"), ipam.CodeQuotaExceeded)
	require.Equal(t, "acme/q", e.Figures.Quota)
	require.Equal(t, ipam.StepQuota, e.Figures.Steps[len(e.Figures.Steps)-1].Kind)
	b.release(t, "a")
	b.claim(t, byClass("c", "net"))
}

func second[T any](_ T, err error) error { return err }

func TestSharedClassHidesItsCreatorFromOtherProjects(t *testing.T) {
	t.Parallel()
	b := setupClass(t)
	own, err := b.GetClass(b.ctx, platform, "net", usecase.Reading{})
	require.NoError(t, err)
	require.NotEmpty(t, own.CreatedBy)
	got, err := b.GetClass(b.ctx, project, "net", usecase.Reading{})
	require.NoError(t, err)
	require.Empty(t, got.CreatedBy)
	page, err := b.ListClasses(b.ctx, project, paging.Filter{}, 10, "", usecase.Reading{})
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
	require.Empty(t, page.Items[0].CreatedBy)
}

func TestExplanationsDoNotChangeTheLeastUtilizedOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, platform, class("net", sharedClass, lengths(24, 32, 28), leastUtilized))
	b.poolIn(t, platform, root("a", "10.0.0.0/24", backing("net")))
	b.poolIn(t, platform, root("b", "10.0.1.0/24", backing("net")))
	for range 3 {
		got, err := b.ExplainClaim(b.ctx, project, byClass("", "net"))
		require.NoError(t, err)
		require.Equal(t, "platform/a", got.Claim.Pool.String())
	}
	require.Equal(t, "platform/a", b.claim(t, byClass("x", "net")).Pool.String())
	require.Equal(t, "platform/b", b.claim(t, byClass("y", "net")).Pool.String())
}

func TestRetainedBlockKeepsTheCooldownOfAClassNoLongerShared(t *testing.T) {
	t.Parallel()
	b := setupClass(t, cooling(time.Hour))
	c := b.claim(t, byClass("c", "net", retain))
	b.release(t, "c")
	_, err := b.PatchClass(b.ctx, platform, "net", false, usecase.Request{}, func(c ipam.Class) (ipam.Class, error) {
		c.Spec.Visibility = ipam.VisibilityConsumer
		return c, nil
	})
	require.NoError(t, err)
	require.NoError(t, b.DeleteAllocation(b.ctx, project, c.AllocationID.String(), usecase.Request{}))
	a, err := b.GetAllocation(b.ctx, platform, c.AllocationID.String(), usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, ipam.PhaseCoolingDown, a.Phase)
}

func TestBatchIsLimitedInNewScopes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, platform, class("net", sharedClass, poolPer(28, "site"), lengths(28, 32, 32)))
	b.poolIn(t, platform, root("eu", "10.0.0.0/16", backing("net")))
	var claims []ipam.Claim
	for i := range 33 {
		claims = append(claims, byClass(fmt.Sprintf("c%d", i), "net", inScope("site", fmt.Sprintf("s%d", i))))
	}
	_, err := b.CreateClaimBatch(b.ctx, project, claims, usecase.Request{})
	require.Equal(t, "/claims/32/spec/scope", refused(t, err, ipam.CodeInvalidArgument).Fields[0].Pointer)
	_, err = b.CreateClaimBatch(b.ctx, project, claims[:32], usecase.Request{})
	require.NoError(t, err)
	_, err = b.CreateClaimBatch(b.ctx, project, []ipam.Claim{byClass("d", "net", inScope("site", "s0")), claims[32]}, usecase.Request{})
	require.NoError(t, err, "those that are open do not count")
}
