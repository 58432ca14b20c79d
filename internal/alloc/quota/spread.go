package quota

import (
	"math/big"

	"github.com/carve-ipam/carve/internal/ipam"
)

// The arithmetic of quotas in sixteen rows for each region. It reads and writes nothing.

// emptyShards are the shards of a quota in a region, with nothing used and nothing to spare.
func emptyShards(quota ipam.ID, region string) []ipam.QuotaShard {
	shards := make([]ipam.QuotaShard, ipam.QuotaShards)
	for i := range shards {
		shards[i] = ipam.QuotaShard{Region: region, QuotaID: quota, Shard: i, Used: ipam.Usage{Addresses: new(big.Int)}, Spare: ipam.Usage{Addresses: new(big.Int)}}
	}
	return shards
}

// sharded divides the figures of a quota over its shards in the regions: what is used, and what each shard may hand out. The spare of all
// shards adds up to the limit less what is used, evenly spread; it is zero for what is not bounded. When more is used than
// the limit allows, no shard has anything to hand out.
func sharded(quota ipam.ID, limits ipam.QuotaLimits, used ipam.Usage, regions []string) []ipam.QuotaShard {
	var shards []ipam.QuotaShard
	for _, region := range regions {
		shards = append(shards, emptyShards(quota, region)...)
	}
	shards[0].Used = ipam.Usage{}.Add(used) // it is the sum that counts
	return respread(limits, shards)
}

// respread answers all shards of a quota with their spare divided anew for the limits. What each has used stays.
func respread(limits ipam.QuotaLimits, shards []ipam.QuotaShard) []ipam.QuotaShard {
	used := usedOf(shards)
	addresses := spread(limits.Addresses, used.Addresses, len(shards))
	claims := spread(wide(limits.Claims), big.NewInt(used.Claims), len(shards))
	pools := spread(wide(limits.Pools), big.NewInt(used.Pools), len(shards))
	out := make([]ipam.QuotaShard, len(shards))
	for i, s := range shards {
		s.Spare = ipam.Usage{Addresses: addresses[i], Claims: claims[i].Int64(), Pools: pools[i].Int64()}
		out[i] = s
	}
	return out
}

// spread divides a limit less what is used into n parts that differ by one at most; nothing when there is no limit.
func spread(limit, used *big.Int, n int) []*big.Int {
	parts := make([]*big.Int, n)
	each, rest := new(big.Int), new(big.Int)
	if limit != nil {
		// Euclidean: rest is 0 to n-1, so that a lack is spread as a lack, and no part of it is above zero.
		each.DivMod(new(big.Int).Sub(limit, used), big.NewInt(int64(n)), rest)
	}
	for i := range parts {
		parts[i] = new(big.Int).Set(each)
		if int64(i) < rest.Int64() {
			parts[i].Add(parts[i], big.NewInt(1))
		}
	}
	return parts
}

// usedOf is what all shards have used together.
func usedOf(shards []ipam.QuotaShard) ipam.Usage {
	sum := ipam.Usage{Addresses: new(big.Int)}
	for _, s := range shards {
		sum = sum.Add(s.Used)
	}
	return sum
}

// overdrawn reports whether more is used than a limit allows.
func overdrawn(limits ipam.QuotaLimits, used ipam.Usage) bool {
	addresses := used.Addresses
	if addresses == nil {
		addresses = new(big.Int)
	}
	return limits.Addresses != nil && addresses.Cmp(limits.Addresses) > 0 ||
		limits.Claims != nil && used.Claims > *limits.Claims ||
		limits.Pools != nil && used.Pools > *limits.Pools
}

func wide(limit *int64) *big.Int {
	if limit == nil {
		return nil
	}
	return big.NewInt(*limit)
}
