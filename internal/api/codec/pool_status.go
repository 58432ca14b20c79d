package codec

import (
	"fmt"
	"math/big"
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func poolStatusOf(p ipam.Pool, now time.Time) gen.IPPoolStatus {
	total := size(p.Block)
	available := p.Stock.Available(p.Block.Addr().BitLen())
	cooling := ipam.Stock{Free: p.Stock.Cooling}.Available(p.Block.Addr().BitLen())
	status := gen.IPPoolStatus{
		Phase:              gen.IPPoolPhase(p.Phase()),
		AllocatedCIDR:      p.Block.String(),
		IPFamily:           gen.IPFamily(p.Family()),
		SpaceRef:           resolvedRefOf(p.Space),
		ParentRef:          optionalRefOf(p.Spec.Parent),
		Capacity:           capacity(total, available, reservedIn(p), cooling),
		UtilizationPercent: utilization(total, available),
		Conditions:         allocated(fmt.Sprintf("%s was carved from %s.", p.Block, origin(p)), p.CreatedAt),
	}
	if len(p.Regional) > 0 {
		status.Regions = poolRegionsOf(p, now)
	}
	if bits, ok := p.Stock.LargestFree(); ok {
		status.LargestFreePrefixLength = &bits
	}
	if s := p.Scope; s != nil {
		status.Scope = &gen.PoolScope{
			ClassName: s.Class.Ref.Name, ClassProject: s.Class.Ref.Project, Project: s.Project, Values: s.Values,
		}
	}
	return status
}

func origin(p ipam.Pool) string {
	if p.Root() {
		return "space " + p.Space.String()
	}
	return "pool " + p.Spec.Parent.String()
}

// capacity divides a pool's addresses. Addresses that are neither free nor reserved nor cooling down count as allocated. While a pool is being
// patched, its spec and its blocks may have been read at different moments. Even then, the sum of the parts equals the total, and no part is
// negative.
func capacity(total, available, reserved, cooling *big.Int) gen.Capacity {
	held := new(big.Int).Sub(total, available)
	taken := func(n *big.Int) string {
		if n.Cmp(held) > 0 {
			n = new(big.Int).Set(held)
		}
		held.Sub(held, n)
		return n.String()
	}
	out := gen.Capacity{Total: total.String(), Available: available.String()}
	out.Reserved = taken(reserved)
	out.CoolingDown = taken(cooling)
	out.Allocated = held.String()
	return out
}

// utilization returns the used percentage, rounded to two decimals, half up. It is 0 if total is 0.
func utilization(total, available *big.Int) float64 {
	return percent(ipam.Share{Used: new(big.Int).Sub(total, available), Of: total}.Hundredths())
}

// size returns a block's number of addresses.
func size(b netip.Prefix) *big.Int {
	return new(big.Int).Lsh(big.NewInt(1), uint(b.Addr().BitLen()-b.Bits()))
}

// reservedIn returns the number of addresses in a pool's reservations. Reservations never overlap, so their sizes can be added.
func reservedIn(p ipam.Pool) *big.Int {
	sum := new(big.Int)
	for _, r := range p.Spec.Reservations {
		switch {
		case r.CIDR.IsValid():
			sum.Add(sum, size(r.CIDR))
		case r.From.IsValid():
			sum.Add(sum, number(r.To)).Sub(sum, number(r.From)).Add(sum, big.NewInt(1))
		default:
			sum.Add(sum, big.NewInt(int64(r.First+r.Last)))
		}
	}
	return sum
}

func number(a netip.Addr) *big.Int { return new(big.Int).SetBytes(a.AsSlice()) }
