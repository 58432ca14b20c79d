package plan

import (
	"math/big"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/internal/ipam"
)

// content is a block that a plan carves from a pool.
type content struct {
	at    string       // its position in the plan
	claim bool         // a claim, and not a child pool
	name  string       // its kind and name
	block netip.Prefix // its length is right
	exact bool         // its address is right too
}

// namedClaim is a claim with its position in the plan.
type namedClaim struct {
	at string
	planClaim
}

// assign finds, for each pool, the claims at the top level of the plan that name the pool.
func (p plan) assign(pools []planPool) {
	byPool := map[string][]namedClaim{}
	for i, c := range p.Claims {
		name := c.Pool
		if c.PoolRef != nil {
			name = c.PoolRef.Name
			if c.PoolRef.Project != "" {
				name = c.PoolRef.Project + "/" + name
			}
		}
		name = strings.TrimPrefix(name, p.Project.Name+"/")
		byPool[name] = append(byPool[name], namedClaim{"claims[" + strconv.Itoa(i) + "]", c})
	}
	var each func(pools []planPool)
	each = func(pools []planPool) {
		for i := range pools {
			pools[i].others = byPool[pools[i].Name]
			each(pools[i].Pools)
		}
	}
	each(pools)
}

// checkContents checks that a pool can hold the blocks that the plan carves from it. The server checks the same against the blocks that the pool already has.
func (f *planFaults) checkContents(at string, p planPool, pool plannedPool, below []plannedPool) {
	if !pool.block.IsValid() {
		return
	}
	all := make([]content, 0, len(below)+len(p.Claims)+len(p.others))
	for i, child := range below {
		if child.block.IsValid() {
			all = append(all, content{at + ".pools[" + strconv.Itoa(i) + "]", false, "pool " + child.name, child.block, child.placed})
		}
	}
	whole := ipam.Pool{Block: pool.block}
	claims := make([]namedClaim, 0, len(p.Claims)+len(p.others))
	for i, c := range p.Claims {
		claims = append(claims, namedClaim{at + ".claims[" + strconv.Itoa(i) + "]", c})
	}
	for _, n := range append(claims, p.others...) {
		here, c := n.at, n.planClaim
		block, pointer := claimedBlock(c, pool)
		if !block.IsValid() {
			continue
		}
		exact := pointer != "/prefixLength"
		var err error
		switch {
		case exact && (pool.placed || ipam.FamilyOf(block.Addr()) != whole.Family()):
			err = whole.AdmitExact(pointer, block)
		default:
			err = whole.Admit(pointer, block.Bits())
		}
		f.refusedAs(here, err, "this pool", "pool "+pool.name)
		if err == nil {
			all = append(all, content{here, true, "claim " + c.Name, block, exact})
		}
	}
	f.checkRoom(at, pool, all)
}

// claimedBlock returns a claim's block, and the field that determines it. If the claim has only a length, the block is at the pool's start. If the
// plan does not determine the length, the block is invalid.
func claimedBlock(c planClaim, pool plannedPool) (block netip.Prefix, pointer string) {
	length := c.PrefixLength
	if length == 0 && pool.policy.DefaultPrefixLength != nil {
		length = *pool.policy.DefaultPrefixLength
	}
	switch {
	case c.CIDR != "":
		block, _ = netip.ParsePrefix(c.CIDR) // an invalid one was reported before
		return block.Masked(), "/cidr"
	case c.Address != "":
		if a, err := netip.ParseAddr(c.Address); err == nil {
			block = netip.PrefixFrom(a, a.BitLen())
		}
		return block, "/address"
	case length > 0:
		return netip.PrefixFrom(pool.block.Addr(), length), "/prefixLength"
	default:
		return netip.Prefix{}, ""
	}
}

// checkRoom checks that a pool is large enough for all blocks, and that no claim overlaps another block. The method pools has already reported child
// pools that overlap.
func (f *planFaults) checkRoom(at string, pool plannedPool, all []content) {
	need, size := new(big.Int), addresses(pool.block)
	exact := []content{}
	for _, c := range all {
		need.Add(need, addresses(c.block))
		if c.exact {
			exact = append(exact, c)
		}
	}
	slices.SortStableFunc(exact, func(a, b content) int { return a.block.Compare(b.block) })
	overlap := false
	for i := 1; i < len(exact); i++ {
		before, c := exact[i-1], exact[i]
		if !before.block.Overlaps(c.block) {
			continue
		}
		overlap = true
		if before.claim || c.claim {
			f.add(c.at, "has the block %s, which overlaps %s (%s)", c.block, before.name, before.block)
		}
		exact[i] = before // the larger block
	}
	if !overlap && need.Cmp(size) > 0 {
		f.add(at, "cannot hold its content: pool %s has %s addresses, and the pools and claims in it need %s", pool.name, size, need)
	}
}

// addresses counts the addresses in a block.
func addresses(block netip.Prefix) *big.Int {
	return new(big.Int).Lsh(big.NewInt(1), uint(block.Addr().BitLen()-block.Bits()))
}
