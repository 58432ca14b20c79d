package plan

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func (p planProject) compare(got client.Project) verbs.Differences {
	var d verbs.Differences
	d.Pairs("label", p.Labels, got.Metadata.Labels)
	d.Field("displayName", p.DisplayName, got.Spec.DisplayName)
	d.Field("description", p.Description, got.Spec.Description)
	return d
}

func (s planSpace) compare(got client.Space) verbs.Differences {
	var d verbs.Differences
	d.Pairs("label", s.Labels, got.Metadata.Labels)
	d.Field("description", s.Description, got.Spec.Description)
	return d
}

// compare judges a pool that is there: where it was carved first, then what can be changed.
func (p planPool) compare(parent, project string, got client.IPPool) verbs.Differences {
	var d verbs.Differences
	gotParent := show.RefText(got.Status.ParentRef, project)
	switch {
	case parent == "" && gotParent != "":
		d = append(d, "it is a child of "+gotParent+", not a root")
	case parent == "":
		d.Field("space", show.FirstOf(p.Space, "default"), show.RefText(&got.Status.SpaceRef, project))
	default:
		d.Field("parent", parent, gotParent)
	}
	d.Field("cidr", canonical(p.CIDR), canonical(got.Status.AllocatedCIDR))
	if block, err := netip.ParsePrefix(got.Status.AllocatedCIDR); err == nil {
		bits := block.Bits()
		d.Bits("prefixLength", p.PrefixLength, &bits)
	}
	d.Pairs("label", p.Labels, got.Metadata.Labels)
	d.Field("description", p.Description, got.Spec.Description)
	d.Field("visibility", string(p.Visibility), string(got.Spec.Visibility))
	policy(&d, p.Allocation, got.Spec.Allocation)
	backing(&d, p, got)
	served(&d, p, got)
	if p.Reservations != nil && !slices.EqualFunc(p.Reservations, got.Spec.Reservations, sameReservation) {
		d = append(d, "the reservations are others")
	}
	return d
}

func policy(d *verbs.Differences, want, got *client.PoolAllocation) {
	if want == nil {
		return
	}
	if got == nil {
		got = &client.PoolAllocation{}
	}
	d.Field("strategy", string(want.Strategy), string(got.Strategy))
	d.Bits("minPrefixLength", want.MinPrefixLength, got.MinPrefixLength)
	d.Bits("maxPrefixLength", want.MaxPrefixLength, got.MaxPrefixLength)
	d.Bits("defaultPrefixLength", want.DefaultPrefixLength, got.DefaultPrefixLength)
}

func sameReservation(a, b client.Reservation) bool {
	for _, r := range []*client.Reservation{&a, &b} {
		r.CIDR, r.From, r.To = canonical(r.CIDR), canonical(r.From), canonical(r.To)
	}
	return a == b
}

// canonical spells a CIDR or an address as the server does, so that 2001:DB8:0::/48 is 2001:db8::/48. What is neither stays.
func canonical(s string) string {
	if p, err := netip.ParsePrefix(s); err == nil {
		return p.String()
	}
	if a, err := netip.ParseAddr(s); err == nil {
		return a.String()
	}
	return s
}

// served compares where a pool of a plan is at home and served.
func served(d *verbs.Differences, p planPool, got client.IPPool) {
	home := show.FirstOf(got.Spec.Region, got.Metadata.Region)
	d.Field("region", p.Region, home)
	if p.Regions == nil {
		return
	}
	is := got.Spec.Regions
	if len(is) == 0 {
		is = []client.Name{home}
	}
	d.Field("regions", strings.Join(slices.Sorted(slices.Values(p.Regions)), ","), strings.Join(slices.Sorted(slices.Values(is)), ","))
}
