package quota

import (
	"math/big"

	"github.com/carve-ipam/carve/internal/ipam"
)

// The functions in this file compute a quota's shards, sixteen in each region. They do no I/O.

// emptyShards returns a quota's shards in a region, with no usage and no spare.
func emptyShards(quota ipam.ID, region string) []ipam.QuotaShard {
	shards := make([]ipam.QuotaShard, ipam.QuotaShards)
	for i := range shards {
		shards[i] = ipam.QuotaShard{Region: region, QuotaID: quota, Shard: i, Used: ipam.Usage{Addresses: new(big.Int)}, Spare: ipam.Usage{Addresses: new(big.Int)}}
	}
	return shards
}

// newShards makes a quota's shards in all regions. It puts the whole usage into the first shard, and divides the spare evenly. The spares differ by
// at most one, and their sum is the limit less the usage. If the usage exceeds the limit, no shard has a positive spare. A measure without a limit
// has no spare.
func newShards(quota ipam.ID, limits ipam.QuotaLimits, used ipam.Usage, regions []string) []ipam.QuotaShard {
	var shards []ipam.QuotaShard
	for _, region := range regions {
		shards = append(shards, emptyShards(quota, region)...)
	}
	shards[0].Used = ipam.Usage{}.Add(used) // only the sum over all shards matters
	return respread(limits, shards)
}

// respread returns a quota's shards with the spare under the given limits, evenly divided. The usage in each shard stays the same.
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

// spread divides the limit less the usage into n parts that differ by at most one. If limit is nil, all parts are zero.
func spread(limit, used *big.Int, n int) []*big.Int {
	parts := make([]*big.Int, n)
	each, rest := new(big.Int), new(big.Int)
	if limit != nil {
		// In Euclidean division, the rest is 0 to n-1 even for a negative amount. So a negative amount gives no part above zero.
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

// usedOf returns the total usage in all shards.
func usedOf(shards []ipam.QuotaShard) ipam.Usage {
	sum := ipam.Usage{Addresses: new(big.Int)}
	for _, s := range shards {
		sum = sum.Add(s.Used)
	}
	return sum
}

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
