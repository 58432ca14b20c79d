package cli

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/client"
)

// differences collects what a plan says and a server has otherwise. What a plan does not say is not compared.
type differences []string

// field compares one value as text; an empty wish is none.
func (d *differences) field(name, want, got string) {
	if want != "" && want != got {
		if got == "" {
			got = "not set"
		}
		*d = append(*d, fmt.Sprintf("%s is %s, not %s", name, got, want))
	}
}

// bits compares a prefix length.
func (d *differences) bits(name string, want, got *int) { d.field(name, slashed(want), slashed(got)) }

// pairs compares the labels, or whatever they are, that the plan names; others may be there.
func (d *differences) pairs(what string, want, got map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(want)) {
		value, found := got[key]
		switch {
		case !found:
			*d = append(*d, what+" "+key+" is not set")
		case value != want[key]:
			*d = append(*d, fmt.Sprintf("%s %s is %q, not %q", what, key, value, want[key]))
		}
	}
}

func (d differences) String() string { return strings.Join(d, "; ") }

func (p planProject) compare(got client.Project) differences {
	var d differences
	d.pairs("label", p.Labels, got.Metadata.Labels)
	d.field("displayName", p.DisplayName, got.Spec.DisplayName)
	d.field("description", p.Description, got.Spec.Description)
	return d
}

func (s planSpace) compare(got client.Space) differences {
	var d differences
	d.pairs("label", s.Labels, got.Metadata.Labels)
	d.field("description", s.Description, got.Spec.Description)
	return d
}

// compare judges a pool that is there: where it was carved first, then what can be changed.
func (p planPool) compare(parent, project string, got client.IPPool) differences {
	var d differences
	gotParent := refText(got.Status.ParentRef, project)
	switch {
	case parent == "" && gotParent != "":
		d = append(d, "it is a child of "+gotParent+", not a root")
	case parent == "":
		d.field("space", firstOf(p.Space, "default"), refText(&got.Status.SpaceRef, project))
	default:
		d.field("parent", parent, gotParent)
	}
	d.field("cidr", canonical(p.CIDR), canonical(got.Status.AllocatedCIDR))
	if block, err := netip.ParsePrefix(got.Status.AllocatedCIDR); err == nil {
		bits := block.Bits()
		d.bits("prefixLength", p.PrefixLength, &bits)
	}
	d.pairs("label", p.Labels, got.Metadata.Labels)
	d.field("description", p.Description, got.Spec.Description)
	d.field("visibility", string(p.Visibility), string(got.Spec.Visibility))
	d.policy(p.Allocation, got.Spec.Allocation)
	d.backing(p, got)
	d.served(p, got)
	if p.Reservations != nil && !slices.EqualFunc(p.Reservations, got.Spec.Reservations, sameReservation) {
		d = append(d, "the reservations are others")
	}
	return d
}

func (d *differences) policy(want, got *client.PoolAllocation) {
	if want == nil {
		return
	}
	if got == nil {
		got = &client.PoolAllocation{}
	}
	d.field("strategy", string(want.Strategy), string(got.Strategy))
	d.bits("minPrefixLength", want.MinPrefixLength, got.MinPrefixLength)
	d.bits("maxPrefixLength", want.MaxPrefixLength, got.MaxPrefixLength)
	d.bits("defaultPrefixLength", want.DefaultPrefixLength, got.DefaultPrefixLength)
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
