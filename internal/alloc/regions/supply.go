package regions

import (
	"context"
	"net/netip"
	"slices"
	"sort"

	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Demand is what a batch wants of one pool that serves several regions, up to the claim that it had no room for there.
type Demand struct {
	Pool    ipam.Pool
	Lengths []int          // of the blocks of any place, all of them in the region that the pool is drawn from
	Exact   []netip.Prefix // the very blocks, wherever they are
	Later   []LaterWant    // by the claims after that
}

// Supply is what a pool has for a demand, in each of its regions, at one moment.
type Supply struct {
	here    []netip.Prefix            // where the pool is drawn from
	others  map[string][]netip.Prefix // in each other region that has any
	enough  bool                      // all regions together have room for the demand
	wanted  []int                     // the lengths that they have room for: the demand's, with as much as there is of what is wanted later
	apart   []ipam.Loan               // if there is not enough of all: what keeps apart a block that is missing
	Refused *LaterWant                // there is no room for this one anywhere, nor can it or one before it be served from another pool
}

// LaterWant is a block of any place that a claim of a batch will want.
type LaterWant struct {
	Item, Bits int
	Only       bool // the claim can be served from no other pool
}

// with is the lengths of the blocks of any place, with the first n of those that are wanted later.
func (d Demand) with(n int) []int {
	all := slices.Clone(d.Lengths)
	for _, l := range d.Later[:n] {
		all = append(all, l.Bits)
	}
	return all
}

// More reports whether something can be brought that the demand is short of, or might be: blocks of any place are drawn in the order of the claims, and
// by some strategies that takes more room than it would take in another order.
func (s Supply) More() bool { return s.enough && len(s.others) > 0 || len(s.apart) > 0 }

// LookFor looks what a pool has for a demand: of each region as many blocks as the demand could use up, the largest. It is to be called in one transaction.
func LookFor(ctx context.Context, read storage.Reader, d Demand) (Supply, error) {
	s := Supply{others: map[string][]netip.Prefix{}, wanted: d.with(len(d.Later))}
	smallest := slices.Max(s.wanted)
	var all []netip.Prefix
	containers := storage.PoolContainers(d.Pool)
	for _, c := range containers {
		free, err := read.FreeList(ctx, c, smallest, netip.Prefix{}, len(s.wanted)+len(d.Exact))
		if err != nil {
			return s, err
		}
		free = sparedBy(d.Exact, free, smallest)
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
	first := sort.Search(len(d.Later), func(n int) bool { // the first with which it is too much; all of them are
		bits, missing = shortage(d.Pool, all, d.with(n))
		return missing > 0
	})
	bits, _ = shortage(d.Pool, all, d.with(first))
	var err error
	if s.apart, err = loansApart(ctx, read, d.Pool, containers, bits); err != nil || first == 0 {
		return s, err
	}
	s.enough, s.wanted = true, d.with(first-1)
	if len(s.apart) == 0 && !slices.ContainsFunc(d.Later[:first], func(l LaterWant) bool { return !l.Only }) {
		s.Refused = &d.Later[first-1]
	}
	return s, nil
}

// sparedBy is what very blocks leave of free ones, of what can still hold a block of length smallest.
func sparedBy(exact, free []netip.Prefix, smallest int) []netip.Prefix {
	for _, e := range exact {
		for i, f := range free {
			if !space.Contains(f, e) {
				continue
			}
			rest := slices.Concat(free[:i], free[i+1:])
			for _, part := range space.Carve(f, e) {
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

// shortage is how many blocks are missing, and of which length, for free blocks to hold blocks of some lengths; none missing: they hold all of them, if the
// largest are placed first, or each in the tightest block.
//
// Free blocks hold them if and only if, for each length, what is free in blocks of at least that size is no less than what is wanted in blocks of at least
// that size: a block of a power of two can be halved without waste.
func shortage(pool ipam.Pool, free []netip.Prefix, lengths []int) (bits, missing int) {
	const plenty = 1 << 32 // more than is ever wanted
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
