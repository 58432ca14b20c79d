package codec

import (
	"cmp"
	"net/netip"
	"strconv"
	"time"

	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// NewPool converts a POST body into a pool.
func NewPool(project string, b gen.IPPoolCreate) (ipam.Pool, error) {
	meta, wrongMeta := newMetadata(b.Metadata)
	spec, wrongSpec := PoolSpec(project, b.Spec)
	return ipam.Pool{Metadata: meta, Spec: spec}, cmp.Or(wrongMeta, wrongSpec)
}

// PoolSpec converts a pool's spec.
func PoolSpec(project string, s gen.IPPoolSpec) (ipam.PoolSpec, error) {
	spec := ipam.PoolSpec{
		Parent: ref(project, s.ParentRef), Space: ref(project, s.SpaceRef), PrefixLength: s.PrefixLength,
		Visibility: ipam.VisibilityConsumer, Allocation: ipam.Allocating{Strategy: ipam.BestFit}, Description: s.Description,
		Region: s.Region, Drain: ipam.Drain(s.Drain),
	}
	if s.Visibility != "" {
		spec.Visibility = ipam.Visibility(s.Visibility)
	}
	if p := s.Allocation; p != nil {
		spec.Allocation.MinPrefixLength, spec.Allocation.MaxPrefixLength = p.MinPrefixLength, p.MaxPrefixLength
		spec.Allocation.DefaultPrefixLength = p.DefaultPrefixLength
		if p.Strategy != "" {
			spec.Allocation.Strategy = ipam.Strategy(p.Strategy)
		}
	}
	if len(s.ClassNames) > 0 {
		spec.ClassNames = s.ClassNames
	}
	if len(s.Regions) > 0 {
		spec.Regions = s.Regions
	}
	var err error
	if spec.ReuseAfter, err = duration("/spec/reuseAfter", s.ReuseAfter); err != nil {
		return spec, err
	}
	if spec.CIDR, err = Block("/spec/cidr", s.CIDR); err != nil {
		return spec, err
	}
	for i, r := range s.Reservations {
		reserved, err := reservation("/spec/reservations/"+strconv.Itoa(i), r)
		if err != nil {
			return spec, err
		}
		spec.Reservations = append(spec.Reservations, reserved)
	}
	return spec, nil
}

func reservation(pointer string, r gen.Reservation) (out ipam.Reservation, err error) {
	out = ipam.Reservation{First: r.First, Last: r.Last, Reason: r.Reason}
	if out.CIDR, err = Block(pointer+"/cidr", r.CIDR); err != nil {
		return out, err
	}
	if out.From, err = Address(pointer+"/from", r.From); err != nil {
		return out, err
	}
	out.To, err = Address(pointer+"/to", r.To)
	return out, err
}

// Block parses an optional CIDR. "" means that it is absent.
func Block(pointer, s string) (netip.Prefix, error) {
	if s == "" {
		return netip.Prefix{}, nil
	}
	return ipam.ParseBlock(pointer, s)
}

// Address parses an optional address. "" means that it is absent.
func Address(pointer, s string) (netip.Addr, error) {
	if s == "" {
		return netip.Addr{}, nil
	}
	return ipam.ParseAddress(pointer, s)
}

func blockOf(p netip.Prefix) string {
	if !p.IsValid() {
		return ""
	}
	return p.String()
}

func addressOf(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	return a.String()
}

// PoolOf converts a pool into its wire form. now is the time for which the runways are calculated.
func PoolOf(p ipam.Pool, now time.Time) gen.IPPool {
	return gen.IPPool{Metadata: metadataOf(p.Metadata), Spec: PoolSpecOf(p.Spec), Status: poolStatusOf(p, now)}
}

// PoolSpecOf converts a pool's spec into its wire form.
func PoolSpecOf(s ipam.PoolSpec) gen.IPPoolSpec {
	spec := gen.IPPoolSpec{
		CIDR: blockOf(s.CIDR), ParentRef: refOf(s.Parent), SpaceRef: refOf(s.Space), PrefixLength: s.PrefixLength,
		Visibility: gen.PoolVisibility(s.Visibility), Description: s.Description,
		ClassNames: s.ClassNames, ReuseAfter: durationOf(s.ReuseAfter),
		Region: s.Region, Regions: s.Regions, Drain: gen.PoolDrain(s.Drain),
		Allocation: &gen.PoolAllocation{
			Strategy:        gen.AllocationStrategy(s.Allocation.Strategy),
			MinPrefixLength: s.Allocation.MinPrefixLength, MaxPrefixLength: s.Allocation.MaxPrefixLength,
			DefaultPrefixLength: s.Allocation.DefaultPrefixLength,
		},
	}
	for _, r := range s.Reservations {
		spec.Reservations = append(spec.Reservations, gen.Reservation{
			CIDR: blockOf(r.CIDR), From: addressOf(r.From), To: addressOf(r.To),
			First: r.First, Last: r.Last, Reason: r.Reason,
		})
	}
	return spec
}
