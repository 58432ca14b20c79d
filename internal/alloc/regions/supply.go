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

// Demand is a batch's demand on one pool that serves several regions, up to the claim that found no room.
type Demand struct {
	Pool    ipam.Pool
	Lengths []int          // lengths for the blocks at any address, all in the region where the pool is used
	Exact   []netip.Prefix // the exact blocks, in any region
	Later   []LaterWant    // by later claims in the batch
}

// Supply is a pool's supply for a demand, in each of its regions, at one moment.
type Supply struct {
	here    []netip.Prefix            // in the region where the pool is used
	others  map[string][]netip.Prefix // in each other region that has any
	enough  bool                      // all regions together have room for the demand
	wanted  []int                     // the lengths that they have room for: the demand's, and as many later ones as possible
	split   []ipam.Loan               // if not all of it fits: the loans that split a missing block
	Refused *LaterWant                // no region has room for this one, and neither it nor an earlier one can use another pool
}

// LaterWant is a block at any address that a later claim in a batch will need.
type LaterWant struct {
	Item, Bits int
	Only       bool // the claim can use no other pool
}

// with returns the lengths for the blocks at any address, including the first n later ones.
func (d Demand) with(n int) []int {
	all := slices.Clone(d.Lengths)
	for _, l := range d.Later[:n] {
		all = append(all, l.Bits)
	}
	return all
}

// More reports whether moving a block can help a demand that lacks room, or might lack it. Claims take blocks at any address in their own order, and
// with some strategies that needs more room than another order.
func (s Supply) More() bool { return s.enough && len(s.others) > 0 || len(s.split) > 0 }

// ReadSupply reads a pool's supply for a demand: from each region the largest free blocks, as many as the demand could use. Call it inside one
// transaction.
func ReadSupply(ctx context.Context, read storage.Reader, d Demand) (Supply, error) {
	s := Supply{others: map[string][]netip.Prefix{}, wanted: d.with(len(d.Later))}
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
	first := sort.Search(len(d.Later), func(n int) bool { // the first one that does not fit; n = len(d.Later) does not fit
		bits, missing = shortage(d.Pool, all, d.with(n))
		return missing > 0
	})
	bits, _ = shortage(d.Pool, all, d.with(first))
	var err error
	if s.split, err = splittingLoans(ctx, read, d.Pool, containers, bits); err != nil || first == 0 {
		return s, err
	}
	s.enough, s.wanted = true, d.with(first-1)
	if len(s.split) == 0 && !slices.ContainsFunc(d.Later[:first], func(l LaterWant) bool { return !l.Only }) {
		s.Refused = &d.Later[first-1]
	}
	return s, nil
}

// subtractExact removes exact blocks from free ones, and returns the parts that can still hold a block with length smallest.
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

// shortage returns how many blocks are missing, and of which length, if free blocks should hold blocks of these lengths. If none is missing, they
// hold all of them, with the largest placed first, or each in the smallest possible block.
//
// Free blocks hold them if and only if, for each length, the free blocks at least that large have no fewer addresses than the wanted blocks at least
// that large: a power-of-two block can be halved without waste.
func shortage(pool ipam.Pool, free []netip.Prefix, lengths []int) (bits, missing int) {
	const plenty = 1 << 32 // more than any demand
	var have, want [129]int
	for _, f := range free {
		have[f.Bits()]++
	}
	for _, b := range lengths {
		want[b]++
	}
	left := 0 // in blocks of the length
	for bits = pool.Block.Bits(); bits <= pool.Block.Addr().BitLen(); bits++ {
		if left = min(2*left, plenty) + have[bits] - want[bits]; left < 0 {
			return bits, -left
		}
	}
	return 0, 0
}
