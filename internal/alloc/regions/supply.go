package regions

import (
	"context"
	"net/netip"
	"slices"
	"sort"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Demand contains the blocks that a batch needs from one pool, up to the claim that found no room. The pool serves several regions.
type Demand struct {
	Pool    ipam.Pool
	Lengths []int          // the prefix lengths of the blocks at any address, all in the region where the pool is used
	Exact   []netip.Prefix // the exact blocks, in any region
	Later   []LaterWant    // the blocks for later claims in the batch
}

// Supply contains a pool's free blocks in each region, at one moment, compared with a demand.
type Supply struct {
	here    []netip.Prefix            // the free blocks in the region where the pool is used
	others  map[string][]netip.Prefix // the free blocks in each other region that has any
	enough  bool                      // all regions together have room for the demand
	wanted  []int                     // the lengths for which there is room: all the demand's lengths, and as many later ones as possible
	split   []ipam.Loan               // if not everything fits: the loans that split a missing block between regions
	Refused *LaterWant                // the first later block for which no region has room; no claim up to this one can use another pool
}

// LaterWant is a block at any address that a later claim in the batch needs.
type LaterWant struct {
	Item, Bits int
	Only       bool // the claim can use no other pool
}

// lengthsWith returns the lengths of the blocks at any address. It includes the first n later blocks.
func (d Demand) lengthsWith(n int) []int {
	all := slices.Clone(d.Lengths)
	for _, l := range d.Later[:n] {
		all = append(all, l.Bits)
	}
	return all
}

// CanGrow reports whether another block can be moved to the region for the batch. This can be necessary even if the region seems to have enough room,
// because the claims take their blocks in their own order. With some strategies, this order needs more room than the best order.
func (s Supply) CanGrow() bool { return s.enough && len(s.others) > 0 || len(s.split) > 0 }

// ReadSupply reads the largest free blocks in each region, as many as the demand could use. Call it in a transaction.
func ReadSupply(ctx context.Context, read storage.Reader, d Demand) (Supply, error) {
	s := Supply{others: map[string][]netip.Prefix{}, wanted: d.lengthsWith(len(d.Later))}
	smallest := slices.Max(s.wanted)
	var all []netip.Prefix
	containers := storage.PoolContainers(d.Pool)
	for _, c := range containers {
		free, err := read.FreeList(ctx, c, smallest, netip.Prefix{}, len(s.wanted)+len(d.Exact))
		if err != nil {
			return s, err
		}
		free = subtractExact(d.Exact, free, smallest)
		if all = append(all, free...); c.Region == d.Pool.Place() {
			s.here = free
		} else if len(free) > 0 {
			s.others[c.Region] = free
		}
	}
	bits, missing := shortage(d.Pool, all, s.wanted)
	if s.enough = missing == 0; s.enough {
		return s, nil
	}
	first := sort.Search(len(d.Later), func(n int) bool { // the first later block that does not fit; n = len(d.Later) does not fit
		bits, missing = shortage(d.Pool, all, d.lengthsWith(n))
		return missing > 0
	})
	bits, _ = shortage(d.Pool, all, d.lengthsWith(first))
	var err error
	if s.split, err = splittingLoans(ctx, read, d.Pool, containers, bits); err != nil || first == 0 {
		return s, err
	}
	s.enough, s.wanted = true, d.lengthsWith(first-1)
	if len(s.split) == 0 && !slices.ContainsFunc(d.Later[:first], func(l LaterWant) bool { return !l.Only }) {
		s.Refused = &d.Later[first-1]
	}
	return s, nil
}

// subtractExact removes the exact blocks from the free blocks. It returns the remaining parts that are large enough for a block with length smallest.
func subtractExact(exact, free []netip.Prefix, smallest int) []netip.Prefix {
	for _, e := range exact {
		for i, f := range free {
			if !freespace.Contains(f, e) {
				continue
			}
			rest := slices.Concat(free[:i], free[i+1:])
			for _, part := range freespace.Carve(f, e) {
				if part.Bits() <= smallest {
					rest = append(rest, part)
				}
			}
			free = rest
			break
		}
	}
	return free
}

// shortage checks whether blocks with the given lengths fit into the free blocks. It returns the number of missing blocks and their length. If no
// block is missing, all blocks fit. They fit if the largest is placed first, or if each is placed into the smallest possible free block.
//
// The blocks fit if and only if the following is true for each length. Consider only the free and the wanted blocks that are at least that large. The
// free ones have at least as many addresses as the wanted ones. This holds because a block can be halved without waste.
func shortage(pool ipam.Pool, free []netip.Prefix, lengths []int) (bits, missing int) {
	const plenty = 1 << 32 // more than any demand
	var have, want [129]int
	for _, f := range free {
		have[f.Bits()]++
	}
	for _, b := range lengths {
		want[b]++
	}
	left := 0 // counted in blocks of the current length
	for bits = pool.Block.Bits(); bits <= pool.Block.Addr().BitLen(); bits++ {
		if left = min(2*left, plenty) + have[bits] - want[bits]; left < 0 {
			return bits, -left
		}
	}
	return 0, 0
}
