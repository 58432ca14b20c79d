package codec

import (
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

func meta(name string) ipam.Metadata {
	at := time.Date(2026, 3, 2, 9, 30, 0, 123456000, time.UTC)
	return ipam.Metadata{
		Name: name, UID: ipam.DerivedID(ipam.ID{}, name), Project: "team-a", Region: "local", Generation: 2,
		Revision: ipam.DerivedID(ipam.ID{1}, name), CreatedAt: at, UpdatedAt: at.Add(time.Hour), CreatedBy: "dev",
		Labels: map[string]string{"env": "prod", "tier": "web"}, Annotations: map[string]string{"example.com/ticket": "NET-1"},
	}
}

// childPool returns a partly used pool that sets every field of a child.
func childPool() ipam.Pool {
	return ipam.Pool{
		Metadata: meta("edge"), Block: netip.MustParsePrefix("10.20.4.0/22"), Space: ipam.Ref{Project: "team-a", Name: "default"},
		Spec: ipam.PoolSpec{
			Parent: ipam.Ref{Project: "team-a", Name: "prod-eu"}, PrefixLength: new(22), Visibility: ipam.VisibilityShared,
			Allocation: ipam.Allocating{Strategy: ipam.FirstFit, MinPrefixLength: new(24), MaxPrefixLength: new(30), DefaultPrefixLength: new(28)},
			Reservations: []ipam.Reservation{
				{First: 16, Reason: "devices"},
				{CIDR: netip.MustParsePrefix("10.20.7.0/27")},
				{From: netip.MustParseAddr("10.20.5.10"), To: netip.MustParseAddr("10.20.5.12"), Reason: "printers"},
			},
			Description: "Edge",
			ClassNames:  []string{"gold", "standard"}, ReuseAfter: new(90 * time.Minute),
		},
		Stock: ipam.Stock{Free: map[int]int64{24: 2, 27: 3}, Cooling: map[int]int64{26: 1, 32: 5}},
	}
}

// servedPool returns a pool that three regions serve. One region has borrowed blocks, and another one has none yet.
func servedPool() ipam.Pool {
	m := meta("global")
	m.Region = "eu"
	block := netip.MustParsePrefix("10.128.0.0/12")
	return ipam.Pool{
		Metadata: m, Block: block, Space: ipam.Ref{Project: "team-a", Name: "default"},
		Spec: ipam.PoolSpec{
			CIDR: block, Visibility: ipam.VisibilityConsumer, Allocation: ipam.Allocating{Strategy: ipam.BestFit},
			Region: "eu", Regions: []string{"us", "eu", "ap"},
		},
		Stock: ipam.Stock{Free: map[int]int64{13: 1, 20: 1}},
		Regional: []ipam.PoolRegion{
			{
				Region: "us", Loan: 13, LoanedAt: m.CreatedAt, Lasted: 6 * time.Hour,
				Stock: ipam.Stock{Free: map[int]int64{20: 1}, Cooling: map[int]int64{28: 2}},
				Lent:  ipam.Stock{Free: map[int]int64{20: 1, 19: 1}},
			},
			{Region: "eu", Loan: -1, Stock: ipam.Stock{Free: map[int]int64{13: 1}, Cooling: map[int]int64{32: 1}}},
			{Region: "ap", Loan: -1},
		},
	}
}

// scopedPool returns a pool that was created for the claims of one class and one scope.
func scopedPool() ipam.Pool {
	class := ipam.Ref{Project: "platform", Name: "per-cluster"}
	return ipam.Pool{
		Metadata: meta("per-cluster-0123456789ab"), Block: netip.MustParsePrefix("10.20.16.0/20"), Space: ipam.Ref{Project: "platform", Name: "default"},
		Spec: ipam.PoolSpec{
			Parent: ipam.Ref{Project: "platform", Name: "backing"}, PrefixLength: new(20), Visibility: ipam.VisibilityConsumer,
			Allocation: ipam.Allocating{Strategy: ipam.BestFit},
		},
		Scope: &ipam.PoolScope{
			Class: ipam.ClassRef{ID: ipam.DerivedID(ipam.ID{3}, class.Name), Ref: class}, ProjectID: ipam.DerivedID(ipam.ID{4}, "team-a"), Project: "team-a",
			Values: map[string]string{"cluster": "web-eu"}, Key: "cluster=web-eu",
		},
		Stock: ipam.Stock{Free: map[int]int64{20: 1}},
	}
}

// fullClass returns a class that sets every field, except the fields of a class with a pool for each scope.
func fullClass() ipam.Class {
	return ipam.Class{
		Metadata: meta("gold"),
		Spec: ipam.ClassSpec{
			Provisioner: ipam.ProvisionerNative, Family: ipam.IPv4, Strategy: ipam.Sparse,
			MinPrefixLength: new(22), MaxPrefixLength: new(28), DefaultPrefixLength: new(24), ReclaimPolicy: ipam.ReclaimRetain,
			Visibility: ipam.VisibilityConsumer, IsDefault: true, ReuseAfter: new(72 * time.Hour), PoolSelection: ipam.PoolsLeastUtilized, UniqueWithin: ipam.UniqueWithinSpace,
			Parameters: map[string]string{"example.com/tier": "gold", "Tier": "1", "tier": "2"}, Description: "Blocks for clusters",
		},
		Status: ipam.ClassStatus{BackingPools: 2, Total: "131072", Available: "98304", LargestFree: new(22)},
	}
}

// scopedClass returns a class with a pool for each scope.
func scopedClass() ipam.Class {
	return ipam.Class{
		Metadata: meta("per-cluster"),
		Spec: ipam.ClassSpec{
			Family: ipam.IPv6, MinPrefixLength: new(64), PoolPer: []string{"project", "cluster"}, PoolPrefixLength: new(56), EmptyPoolTTL: new(0 * time.Second),
		}.WithDefaults(),
		Status: ipam.ClassStatus{BackingPools: 1, ScopedPools: 3, Total: "340282366920938463463374607431768211456", Available: "0"},
	}
}

func rootPool() ipam.Pool {
	return ipam.Pool{
		Metadata: meta("v6"), Block: netip.MustParsePrefix("2001:db8::/32"), Space: ipam.Ref{Project: "team-a", Name: "lab"},
		Spec: ipam.PoolSpec{
			CIDR: netip.MustParsePrefix("2001:db8::/32"), Space: ipam.Ref{Project: "team-a", Name: "lab"},
			Visibility: ipam.VisibilityConsumer, Allocation: ipam.Allocating{Strategy: ipam.BestFit},
		},
		Stock: ipam.Stock{Free: map[int]int64{32: 1}},
	}
}

func boundClaim() ipam.Claim {
	return ipam.Claim{
		Metadata: meta("web"), Block: netip.MustParsePrefix("10.20.4.16/28"),
		Pool: ipam.Ref{Project: "team-a", Name: "edge"}, AllocationID: ipam.DerivedID(ipam.ID{2}, "web"),
		Spec: ipam.ClaimSpec{
			PoolRef: ipam.Ref{Project: "team-a", Name: "edge"}, PrefixLength: new(28), Family: ipam.IPv4,
			ReclaimPolicy: ipam.ReclaimRetain, OwnerRef: &ipam.OwnerRef{Kind: "Cluster", Name: "web", UID: "1"},
		},
		ReclaimPolicy: ipam.ReclaimRetain,
	}
}

// classClaim returns a claim that only names a class.
func classClaim() ipam.Claim {
	class := ipam.Ref{Project: "platform", Name: "per-cluster"}
	return ipam.Claim{
		Metadata: meta("node"), Block: netip.MustParsePrefix("10.20.16.0/26"), Pool: scopedPool().Ref(), AllocationID: ipam.DerivedID(ipam.ID{2}, "node"),
		Spec:  ipam.ClaimSpec{ClassName: class.Name, Scope: map[string]string{"cluster": "web-eu", "Cluster": ""}},
		Class: ipam.ClassRef{ID: ipam.DerivedID(ipam.ID{3}, class.Name), Ref: class}, ReclaimPolicy: ipam.ReclaimDelete, ReuseAfter: 72 * time.Hour,
	}
}
