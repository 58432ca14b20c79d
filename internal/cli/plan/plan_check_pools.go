package plan

import (
	"net/netip"
	"strconv"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/ipam"
)

// plannedPool is a pool with the part of its block that is known before carving. A child with only a prefix length has a known size but no address
// yet.
type plannedPool struct {
	name   string
	space  string       // only for a root pool
	block  netip.Prefix // invalid if nothing is known
	placed bool
	policy ipam.Allocating
}

// pools checks one parent's pools (nil for roots), and all below them. It returns the pools with their blocks.
func (f *planFaults) pools(at string, pools []planPool, parent *plannedPool, seen map[string]bool) (taken []plannedPool) {
	for i, p := range pools {
		here := at + "[" + strconv.Itoa(i) + "]"
		before := len(*f)
		f.name(here, p.Name, seen)
		f.pairs(here, p.planMeta)
		planned := plannedPool{name: p.Name, space: show.FirstOf(p.Space, "default"), policy: strategyOf(p.Allocation)}
		if f.blockOrLength(here, p, parent) {
			planned.block = f.blockOf(here, "cidr", p.CIDR)
			planned.placed = planned.block.IsValid()
			f.spec(here, p, planned, parent)
			if len(*f) == before { // report a fault only once
				planned.block = f.carved(here, p, planned, parent)
			}
			f.reservations(here, p.Reservations, planned)
		}
		for _, other := range taken {
			if planned.placed && other.placed && planned.space == other.space && planned.block.Overlaps(other.block) {
				f.add(here+".cidr", "%s overlaps pool %s (%s)", planned.block, other.name, other.block)
			}
		}
		taken = append(taken, planned)
		f.checkContents(here, p, planned, f.pools(here+".pools", p.Pools, &planned, seen))
	}
	return taken
}

// blockOrLength checks that a pool has either a block or a prefix length. It returns false if it has added a fault.
func (f *planFaults) blockOrLength(at string, p planPool, parent *plannedPool) bool {
	before := len(*f)
	switch {
	case parent == nil && p.PrefixLength != nil:
		f.add(at+".prefixLength", "is for child pools only: pool %s is a root and needs a cidr", p.Name)
	case parent == nil && p.CIDR == "":
		f.add(at, "is a root: pool %s needs a cidr", p.Name)
	case parent != nil && (p.CIDR == "") == (p.PrefixLength == nil):
		f.add(at, "is a child of %s: pool %s needs either a prefixLength or a cidr", parent.name, p.Name)
	}
	if parent != nil && p.Space != "" {
		f.add(at+".space", "is for roots only: pool %s is in the space of its parent %s", p.Name, parent.name)
	}
	f.optionalName(at+".space", p.Space)
	return len(*f) == before
}

// spec checks a pool's spec by itself.
func (f *planFaults) spec(at string, p planPool, planned plannedPool, parent *plannedPool) {
	spec := ipam.PoolSpec{
		CIDR: planned.block, PrefixLength: p.PrefixLength, Visibility: ipam.Visibility(show.FirstOf(string(p.Visibility), string(ipam.VisibilityConsumer))),
		Description: p.Description, ClassNames: p.ClassNames, ReuseAfter: f.duration(at+".reuseAfter", p.ReuseAfter),
	}
	if parent != nil {
		spec.Parent.Name = parent.name
	}
	if p.CIDR == "" || planned.placed {
		f.refused(at, spec.Check())
	}
	if p.Region != "" && !ipam.ValidName(p.Region) {
		f.add(at+".region", "%q is not the name of a region: %s", p.Region, aName)
	}
	for i, region := range p.Regions {
		if !ipam.ValidName(region) {
			f.add(at+".regions["+strconv.Itoa(i)+"]", "%q is not the name of a region: %s", region, aName)
		}
	}
}

// carved checks whether the parent can contain a pool, and checks the pool's policy against its block. It returns the block.
func (f *planFaults) carved(at string, p planPool, planned plannedPool, parent *plannedPool) netip.Prefix {
	block := planned.block
	if parent != nil && parent.block.IsValid() {
		whole := ipam.Pool{Block: parent.block, Spec: ipam.PoolSpec{Allocation: parent.policy}}
		var err error
		switch {
		case p.PrefixLength != nil:
			err = whole.Admit("/prefixLength", *p.PrefixLength)
			if err == nil { // any block with that size in the parent
				block = netip.PrefixFrom(parent.block.Addr(), *p.PrefixLength)
			}
		case parent.placed || ipam.FamilyOf(block.Addr()) != whole.Family():
			err = whole.AdmitExact("/cidr", block)
		default:
			err = whole.Admit("/cidr", block.Bits())
		}
		f.refusedAs(at, err, "this pool", "pool "+parent.name)
	}
	if block.IsValid() {
		known := block.String()
		if !planned.placed {
			known = "length /" + strconv.Itoa(block.Bits())
		}
		f.refusedAs(at, planned.policy.CheckFor(block), block.String(), known)
	}
	return block
}

func (f *planFaults) reservations(at string, list []client.Reservation, pool plannedPool) {
	for i, r := range list {
		here := at + ".reservations[" + strconv.Itoa(i) + "]"
		before := len(*f)
		block := f.blockOf(here, "cidr", r.CIDR)
		from, to := f.addressOf(here, "from", r.From), f.addressOf(here, "to", r.To)
		f.refused(here, ipam.CheckText("/reason", r.Reason, ipam.MaxReason, false))
		ways := 0
		for _, given := range []bool{r.CIDR != "", r.From != "" || r.To != "", r.First != 0, r.Last != 0} {
			if given {
				ways++
			}
		}
		switch {
		case len(*f) > before:
		case ways != 1:
			f.add(here, "must have exactly one of cidr, from with to, first, last")
		case (r.From == "") != (r.To == ""):
			f.add(here, "must have both from and to")
		case to.Less(from):
			f.add(here+".to", "must not be before from")
		case r.First < 0 || r.First > ipam.MaxReservedAddresses:
			f.add(here+".first", "must be 1 to %d", ipam.MaxReservedAddresses)
		case r.Last < 0 || r.Last > ipam.MaxReservedAddresses:
			f.add(here+".last", "must be 1 to %d", ipam.MaxReservedAddresses)
		case !pool.placed:
		case block.IsValid() && (block.Bits() < pool.block.Bits() || !pool.block.Contains(block.Addr())):
			f.add(here+".cidr", "is not inside the pool (%s)", pool.block)
		case from.IsValid() && !pool.block.Contains(from):
			f.add(here+".from", "is not inside the pool (%s)", pool.block)
		case to.IsValid() && !pool.block.Contains(to):
			f.add(here+".to", "is not inside the pool (%s)", pool.block)
		}
	}
}
