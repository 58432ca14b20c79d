package api

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

// childPool is a pool with everything that a child can have, partly used.
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
		},
		Stock: ipam.Stock{Free: map[int]int64{24: 2, 27: 3}},
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
	}
}
