package codec

import (
	"encoding/json"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/alloc/allocations"
	"github.com/carve-ipam/carve/internal/alloc/pools"
	"github.com/carve-ipam/carve/internal/alloc/search"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// A spec must stay the same if it is encoded and decoded.
func TestSpecsRoundTripThroughJSON(t *testing.T) {
	t.Parallel()
	for _, p := range []ipam.Pool{childPool(), rootPool(), scopedPool(), servedPool()} {
		got, err := PoolSpec("elsewhere", PoolSpecOf(p.Spec))
		require.NoError(t, err)
		require.Equal(t, p.Spec, got)
	}
	by := func(change func(*ipam.ClaimSpec)) ipam.ClaimSpec {
		s := ipam.ClaimSpec{}
		change(&s)
		return s
	}
	for _, want := range []ipam.ClaimSpec{
		{},
		boundClaim().Spec,
		classClaim().Spec,
		by(func(s *ipam.ClaimSpec) { s.ReclaimPolicy = ipam.ReclaimDelete }),
		by(func(s *ipam.ClaimSpec) { s.PoolSelector = &ipam.Selector{} }),
		by(func(s *ipam.ClaimSpec) {
			s.PoolSelector = &ipam.Selector{MatchLabels: map[string]string{"a": "b"}, MatchExpressions: []ipam.Requirement{
				{Key: "c", Operator: ipam.OpIn, Values: []string{"d", ""}}, {Key: "e", Operator: ipam.OpDoesNotExist},
			}}
		}),
		by(func(s *ipam.ClaimSpec) { s.AllocationRef = ipam.DerivedID(ipam.ID{}, "x").String() }),
		by(func(s *ipam.ClaimSpec) { s.CIDR = netip.MustParsePrefix("2001:db8::/48") }),
		by(func(s *ipam.ClaimSpec) { s.Address = netip.MustParseAddr("10.0.0.1") }),
	} {
		got, err := ClaimSpec("elsewhere", ClaimOf(ipam.Claim{Spec: want}).Spec)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

// The server finds a repeated request by comparing values. So an empty field must decode to the same value as an absent one.
func TestEmptyAndAbsentFieldsAreEqual(t *testing.T) {
	t.Parallel()
	read := func(body string) ipam.ClaimSpec {
		var wire gen.IPClaimSpec
		require.NoError(t, json.Unmarshal([]byte(body), &wire))
		spec, err := ClaimSpec("team-a", wire)
		require.NoError(t, err)
		return spec
	}
	require.Equal(t, read(`{"poolSelector": {}}`), read(`{"poolSelector": {"matchLabels": {}, "matchExpressions": []}, "ownerRef": {}}`))
	require.Equal(t,
		read(`{"poolSelector": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}}`),
		read(`{"poolSelector": {"matchExpressions": [{"key": "a", "operator": "Exists", "values": []}]}}`))
	require.Equal(t, read(`{}`), read(`{"scope": {}}`))
	require.NotEqual(t, read(`{}`), read(`{"reclaimPolicy": "Delete"}`), "the class's policy may be another one")
	require.Equal(t, read(`{"poolRef": {"name": "p"}}`), read(`{"poolRef": {"project": "team-a", "name": "p"}}`))

	pool, err := PoolSpec("team-a", gen.IPPoolSpec{ClassNames: []string{}, Regions: []string{}})
	require.NoError(t, err)
	require.Nil(t, pool.ClassNames)
	require.Nil(t, pool.Regions)
	require.Nil(t, pool.ReuseAfter)
}

func TestPoolStatus(t *testing.T) {
	t.Parallel()

	t.Run("OfAChild", func(t *testing.T) {
		t.Parallel()
		s := poolStatusOf(childPool(), time.Now())
		require.Equal(t, gen.Capacity{Total: "1024", Available: "608", Reserved: "51", CoolingDown: "69", Allocated: "296"}, s.Capacity)
		require.InDelta(t, 40.63, s.UtilizationPercent, 0) // 40.625, rounded half up
		require.Equal(t, 24, *s.LargestFreePrefixLength)
		require.Equal(t, gen.IPPoolPhaseReady, s.Phase)
		require.Equal(t, &gen.ResolvedRef{Project: "team-a", Name: "prod-eu"}, s.ParentRef)
		require.Equal(t, "10.20.4.0/22 was carved from pool team-a/prod-eu.", s.Conditions[0].Message)
	})

	t.Run("OfARootIsExact", func(t *testing.T) {
		t.Parallel()
		s := poolStatusOf(rootPool(), time.Now())
		require.Equal(t, gen.Capacity{
			Total: "79228162514264337593543950336", Available: "79228162514264337593543950336", Reserved: "0", CoolingDown: "0", Allocated: "0",
		}, s.Capacity)
		require.Zero(t, s.UtilizationPercent)
		require.Nil(t, s.ParentRef)
		require.Equal(t, "2001:db8::/32 was carved from space team-a/lab.", s.Conditions[0].Message)
	})

	t.Run("OfAFullPool", func(t *testing.T) {
		t.Parallel()
		p := childPool()
		p.Stock, p.Spec.Reservations = ipam.Stock{}, nil
		s := poolStatusOf(p, time.Now())
		require.Equal(t, gen.Capacity{Total: "1024", Available: "0", Reserved: "0", CoolingDown: "0", Allocated: "1024"}, s.Capacity)
		require.InDelta(t, 100.0, s.UtilizationPercent, 0)
		require.Nil(t, s.LargestFreePrefixLength)
		require.Equal(t, gen.IPPoolPhaseExhausted, s.Phase)
	})

	t.Run("OfAPoolWithOnlyCoolingBlocks", func(t *testing.T) {
		t.Parallel()
		p := rootPool()
		p.Stock = ipam.Stock{Cooling: map[int]int64{32: 1}}
		s := poolStatusOf(p, time.Now())
		require.Equal(t, gen.Capacity{
			Total: "79228162514264337593543950336", Available: "0", Reserved: "0", CoolingDown: "79228162514264337593543950336", Allocated: "0",
		}, s.Capacity)
		require.InDelta(t, 100.0, s.UtilizationPercent, 0)
		require.Equal(t, gen.IPPoolPhaseExhausted, s.Phase, "nobody can have it yet")
	})

	t.Run("OfAScopedPoolNamesItsScope", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, &gen.PoolScope{
			ClassName: "per-cluster", ClassProject: "platform", Project: "team-a", Values: map[string]string{"cluster": "web-eu"},
		}, poolStatusOf(scopedPool(), time.Now()).Scope)
		require.Nil(t, poolStatusOf(childPool(), time.Now()).Scope)
	})

	t.Run("OfTheWholeAddressSpace", func(t *testing.T) {
		t.Parallel()
		p := rootPool()
		p.Block, p.Stock = ipam.IPv6.Everything(), ipam.Stock{Free: map[int]int64{0: 1}}
		require.Equal(t, "340282366920938463463374607431768211456", poolStatusOf(p, time.Now()).Capacity.Available)
	})

	t.Run("AddsUpWithAnOlderStock", func(t *testing.T) {
		t.Parallel()
		p := childPool()
		p.Stock = ipam.Stock{Free: map[int]int64{22: 1}}
		require.Equal(t, gen.Capacity{Total: "1024", Available: "1024", Reserved: "0", CoolingDown: "0", Allocated: "0"}, poolStatusOf(p, time.Now()).Capacity)
		p.Stock = ipam.Stock{Free: map[int]int64{23: 1, 24: 1, 25: 1, 26: 1}, Cooling: map[int]int64{24: 1}}
		require.Equal(t, gen.Capacity{Total: "1024", Available: "960", Reserved: "51", CoolingDown: "13", Allocated: "0"}, poolStatusOf(p, time.Now()).Capacity)
	})
}

func TestFreeSummary(t *testing.T) {
	t.Parallel()
	got := PoolFreeOf(pools.FreePage{Pool: childPool(), Blocks: []netip.Prefix{netip.MustParsePrefix("10.20.6.0/24")}, Next: "n"})
	require.Equal(t, []gen.FreeBlock{{CIDR: "10.20.6.0/24"}}, got.Items)
	require.Equal(t, "n", got.NextCursor)
	require.Equal(t, []gen.FreeSummary{
		{PrefixLength: 24, FreeBlocks: "2", Available: "2"},
		{PrefixLength: 25, FreeBlocks: "0", Available: "4"},
		{PrefixLength: 26, FreeBlocks: "0", Available: "8"},
		{PrefixLength: 27, FreeBlocks: "3", Available: "19"},
		{PrefixLength: 28, FreeBlocks: "0", Available: "38"},
		{PrefixLength: 29, FreeBlocks: "0", Available: "76"},
		{PrefixLength: 30, FreeBlocks: "0", Available: "152"},
		{PrefixLength: 31, FreeBlocks: "0", Available: "0"}, // outside the pool's bounds
		{PrefixLength: 32, FreeBlocks: "0", Available: "0"},
	}, got.Summary)

	empty, err := json.Marshal(PoolFreeOf(pools.FreePage{Pool: ipam.Pool{Block: childPool().Block}}))
	require.NoError(t, err)
	require.JSONEq(t, `{"summary": [], "items": []}`, string(empty))
}

func TestPoolMapNamesTheStateOfItsCells(t *testing.T) {
	t.Parallel()
	by := func(purpose ipam.Purpose, phase ipam.Phase) *ipam.Allocation {
		return &ipam.Allocation{ID: ipam.NewID(), Block: netip.MustParsePrefix("10.20.0.0/20"), Purpose: purpose, Phase: phase}
	}
	for want, run := range map[gen.PoolMapState]allocations.Run{
		gen.PoolMapStateFree:        {First: 3, Count: 2},
		gen.PoolMapStateMixed:       {First: 3, Count: 2, Mixed: true},
		gen.PoolMapStateHeld:        {First: 3, Count: 2, By: by(ipam.PurposeClaim, ipam.PhaseBound)},
		gen.PoolMapStateRetained:    {First: 3, Count: 2, By: by(ipam.PurposeClaim, ipam.PhaseRetained)},
		gen.PoolMapStateCoolingDown: {First: 3, Count: 2, By: by(ipam.PurposeClaim, ipam.PhaseCoolingDown)},
		gen.PoolMapStateChildPool:   {First: 3, Count: 2, By: by(ipam.PurposeChildPool, ipam.PhaseBound)},
		gen.PoolMapStateReserved:    {First: 3, Count: 2, By: by(ipam.PurposeReservation, ipam.PhaseBound)},
	} {
		m := PoolMapOf(allocations.Map{Within: netip.MustParsePrefix("10.20.0.0/21"), Bits: 24, Runs: []allocations.Run{run}})
		require.Equal(t, []any{"10.20.0.0/21", 24}, []any{m.Within, m.CellPrefixLength})
		got := m.Cells[0]
		require.Equal(t, []any{3, 2, want}, []any{got.First, got.Count, got.State})
		require.Equal(t, run.By != nil, got.By != nil)
		if got.By != nil {
			require.Equal(t, []string{string(run.By.Purpose), run.By.Block.String(), run.By.ID.String()}, []string{string(got.By.Kind), got.By.CIDR, got.By.Allocation})
		}
	}
}

func TestSearchResultsHaveTheFieldsOfTheirKind(t *testing.T) {
	t.Parallel()
	pool := ipam.Ref{Project: "team-a", Name: "p"}
	text, err := json.Marshal(SearchResultOf(search.Found{Truncated: true, Items: []search.Item{
		{Kind: trail.KindProject, Name: "team-a", Why: search.ReasonName},
		{
			Kind: trail.KindAllocation, Project: "team-a", Name: "id", Block: netip.MustParsePrefix("10.20.6.0/24"), Pool: pool,
			Purpose: ipam.PurposeClaim, Phase: ipam.PhaseRetained, Consumer: "team-b", Why: search.ReasonHolds,
		},
		{Kind: trail.KindPool, Project: "team-a", Name: "p", Block: netip.MustParsePrefix("10.20.0.0/16"), Space: ipam.Ref{Project: "team-a", Name: "default"}, Why: search.ReasonContains},
	}}))
	require.NoError(t, err)
	require.JSONEq(t, `{"truncated": true, "items": [
		{"kind": "Project", "name": "team-a", "why": "Name"},
		{"kind": "IPAllocation", "project": "team-a", "name": "id", "cidr": "10.20.6.0/24", "poolRef": {"project": "team-a", "name": "p"},
			"purpose": "Claim", "phase": "Retained", "consumer": "team-b", "why": "Holds"},
		{"kind": "IPPool", "project": "team-a", "name": "p", "cidr": "10.20.0.0/16", "spaceRef": {"project": "team-a", "name": "default"}, "why": "Contains"}
	]}`, string(text))
	empty, err := json.Marshal(SearchResultOf(search.Found{}))
	require.NoError(t, err)
	require.JSONEq(t, `{"items": [], "truncated": false}`, string(empty))
}

func TestSingleAddressClaimsShowTheirAddress(t *testing.T) {
	t.Parallel()
	for block, want := range map[string]string{
		"10.0.0.7/32": "10.0.0.7", "2001:db8::7/128": "2001:db8::7", "10.0.0.6/31": "", "2001:db8::/64": "",
	} {
		c := boundClaim()
		c.Block = netip.MustParsePrefix(block)
		require.Equal(t, want, ClaimOf(c).Status.Address)
	}
}

func TestClaimStatusShowsTheResolvedSpec(t *testing.T) {
	t.Parallel()
	got := ClaimOf(classClaim())
	require.Equal(t, []string{"per-cluster", "platform", "Delete"}, []string{got.Status.ClassName, got.Status.ClassProject, string(got.Status.ReclaimPolicy)})
	require.Equal(t, "per-cluster", got.Spec.ClassName)
	require.Empty(t, got.Spec.ReclaimPolicy, "the spec is as it was written")

	text, err := json.Marshal(ClaimOf(boundClaim()))
	require.NoError(t, err)
	require.NotContains(t, string(text), "class")
	require.Equal(t, gen.ReclaimPolicyRetain, ClaimOf(boundClaim()).Status.ReclaimPolicy)
}

func TestAllocationsShowTheirClassAndCooldown(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 5, 10, 30, 0, 0, time.UTC)
	a := ipam.Allocation{
		ID: ipam.NewID(), Block: childPool().Block, Purpose: ipam.PurposeClaim, Phase: ipam.PhaseCoolingDown, Holder: ipam.Ref{Project: "team-a", Name: "x"},
		Class: classClaim().Class, CoolUntil: at,
	}
	got := AllocationOf(a)
	require.Equal(t, gen.IPAllocationPhaseCoolingDown, got.Status.Phase)
	require.Equal(t, at, *got.Status.CoolUntil)
	require.Equal(t, []string{"platform", "per-cluster"}, []string{got.Spec.ClassProject, got.Spec.ClassName})

	a.Phase, a.CoolUntil, a.Class = ipam.PhaseBound, time.Time{}, ipam.ClassRef{}
	text, err := json.Marshal(AllocationOf(a))
	require.NoError(t, err)
	require.NotContains(t, string(text), "class")
	require.NotContains(t, string(text), "coolUntil")
}

func TestAllocationsNameTheirHolder(t *testing.T) {
	t.Parallel()
	holder := ipam.Ref{Project: "team-a", Name: "x"}
	a := ipam.Allocation{ID: ipam.NewID(), Pool: ipam.Ref{Project: "team-a", Name: "p"}, Block: childPool().Block, Holder: holder}

	a.Purpose = ipam.PurposeClaim
	got := AllocationOf(a)
	require.Equal(t, &gen.ResolvedRef{Project: "team-a", Name: "x"}, got.Spec.ClaimRef)
	require.Nil(t, got.Spec.ChildPoolRef)
	require.Equal(t, a.ID.String(), got.Metadata.Name)

	a.Purpose = ipam.PurposeChildPool
	got = AllocationOf(a)
	require.Equal(t, &gen.ResolvedRef{Project: "team-a", Name: "x"}, got.Spec.ChildPoolRef)
	require.Nil(t, got.Spec.ClaimRef)

	a.Purpose, a.Holder = ipam.PurposeReservation, ipam.Ref{}
	got = AllocationOf(a)
	require.Nil(t, got.Spec.ClaimRef)
	require.Nil(t, got.Spec.ChildPoolRef)
}

func TestGeneratedNamesAreValid(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		prefix := rapid.StringMatching(`[a-z0-9][-a-z0-9]{0,56}`).Draw(t, "prefix")
		m, err := newMetadata(gen.CreateMetadata{GenerateName: prefix})
		require.NoError(t, err)
		require.True(t, ipam.ValidName(m.Name), m.Name)
		require.Len(t, m.Name, len(prefix)+6)
	})
}
