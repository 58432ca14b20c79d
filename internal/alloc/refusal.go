package alloc

import (
	"context"
	"math/big"
	"net/netip"
	"strconv"

	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/ipam"
)

// counted says "1 claim" or "2 claims".
func counted(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.FormatInt(n, 10) + " " + noun + "s"
}

// refusal explains why a pool could not grant a wish, with the figures of the moment. pointer is the field that asked for an
// exact block; caller may be told to bind a retained allocation of its own again.
func refusal(ctx context.Context, read Reader, pool ipam.Pool, wish space.Wish, pointer string, caller ProjectKey) error {
	if wish.Exact.IsValid() {
		return takenRefusal(ctx, read, pool, wish.Exact, pointer, caller)
	}
	stocks, err := read.Stocks(ctx, []Container{PoolContainer(pool)})
	if err != nil {
		return err
	}
	return exhausted([]ipam.Pool{pool}, []ipam.Stock{stocks[pool.UID]}, wish.Bits)
}

// maxPoolsNamed bounds the pools that a refusal names.
const maxPoolsNamed = 50

// exhausted says that none of the pools has a free block of the wanted length, which length is still free, and how
// many addresses. bits is what was asked of the last pool; where pools of both families were tried, lengths speak of its
// family alone, because those of the other one are another measure.
func exhausted(pools []ipam.Pool, stocks []ipam.Stock, bits int) *ipam.Error {
	family, total := pools[len(pools)-1].Family(), new(big.Int)
	all := ipam.Stock{Free: map[int]int64{}}
	names := make([]string, 0, len(pools))
	for i, p := range pools {
		if i < maxPoolsNamed {
			names = append(names, p.Ref().String())
		}
		total.Add(total, stocks[i].Available(p.Family().Bits()))
		if p.Family() != family {
			continue
		}
		for b, n := range stocks[i].Free {
			all.Free[b] += n
		}
	}
	available := total.String()
	where := "Pool " + names[0] + " has"
	if len(pools) > 1 {
		where = "The pools tried have"
	}
	var e *ipam.Error
	if largest, ok := all.LargestFree(); ok {
		e = ipam.Errorf(ipam.CodePoolExhausted, "%s no free block of length /%d left: the largest free block is a /%d, and %s addresses are free in all.",
			where, bits, largest, available)
		e.Figures.LargestFreePrefixLength = &largest
	} else {
		e = ipam.Errorf(ipam.CodePoolExhausted, "%s nothing left to give: a block of length /%d was asked for.", where, bits)
	}
	e.Figures.WantedPrefixLength, e.Figures.AvailableAddresses, e.Figures.PoolsTried = &bits, available, names
	return e
}

// takenRefusal says that the very block asked for is held, at least in part. caller is told to bind a retained allocation
// again when it is its own; the zero key: nobody.
func takenRefusal(ctx context.Context, read Reader, pool ipam.Pool, block netip.Prefix, pointer string, caller ProjectKey) error {
	held, err := read.AllocationListInPool(ctx, PoolContainer(pool), block, netip.Addr{}, 1)
	if err != nil {
		return err
	}
	if len(held) == 1 && held[0].Block == block && held[0].Phase == ipam.PhaseRetained && held[0].HolderProjectID == caller.ID && !caller.ID.IsZero() {
		e := ipam.Errorf(ipam.CodeAllocationRetained,
			"%s is retained from the deleted claim %s. Claim it with allocationRef %q, or delete that allocation first.",
			block, held[0].Holder, held[0].ID)
		e.Figures.ConflictsWith = []string{caller.Name + "/" + held[0].ID.String()}
		return e.At(pointer, "is retained; name the allocation instead.")
	}
	e := ipam.Errorf(ipam.CodeBlockTaken, "%s is not free in pool %s: all of it or a part of it is held.", block, pool.Ref())
	bits := block.Bits()
	e.Figures.WantedPrefixLength, e.Figures.PoolsTried = &bits, []string{pool.Ref().String()}
	return e.At(pointer, "must be wholly free.")
}
