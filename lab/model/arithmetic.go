package model

import (
	"cmp"
	"fmt"
	"math/bits"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
)

// node is a block of the pool, numbered as in a binary heap. 1 is the whole pool, and 2n and 2n+1 are the halves of block n. 0 means no block.
type node uint8

// mask is a set of blocks: bit n is block n.
type mask uint32

func (m mask) has(n node) bool  { return m&(1<<n) != 0 }
func (m mask) with(n node) mask { return m | 1<<n }

func (m mask) each(yield func(node) bool) {
	for rest := m; rest != 0; rest &= rest - 1 {
		if !yield(node(bits.TrailingZeros32(uint32(rest)))) { //nolint:gosec // G115: below 32
			return
		}
	}
}

// inside reports whether block n is equal to b or a part of b.
func inside(n, b node) bool {
	for n > b {
		n /= 2
	}
	return n == b && b != 0
}

// plan is a block that a transaction takes, with the blocks that are free afterwards.
type plan struct {
	block node
	free  mask
}

// arithmetic calls the product's pure functions. It caches their results, which depend only on the arguments.
type arithmetic struct {
	pool     netip.Prefix
	depth    int
	addrs    [maxNodes]uint16 // the addresses of each block, as a set of bits
	prefixes [maxNodes]netip.Prefix
	nodes    map[netip.Prefix]node
	all      []node // every block, larger blocks first
	hosts    []node // every block of one address

	takes   map[[2]mask][]plan
	exacts  map[[2]mask]mask
	merges  map[[2]mask]mask
	returns map[[2]mask]mask
}

func newArithmetic(size int) *arithmetic {
	depth := bits.Len(uint(size)) - 1
	a := &arithmetic{
		pool: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, 0}), 32-depth), depth: depth, nodes: map[netip.Prefix]node{},
		takes: map[[2]mask][]plan{}, exacts: map[[2]mask]mask{}, merges: map[[2]mask]mask{}, returns: map[[2]mask]mask{},
	}
	a.prefixes[1] = a.pool
	for i := 1; i < 2*size; i++ {
		n := node(i)
		if i < size {
			a.prefixes[2*n], a.prefixes[2*n+1] = freespace.Halves(a.prefixes[n])
		} else {
			a.hosts = append(a.hosts, n)
		}
		a.all, a.nodes[a.prefixes[n]] = append(a.all, n), n
		a.addrs[n] = (1<<a.size(n) - 1) << a.prefixes[n].Addr().As4()[3]
	}
	return a
}

// size returns the number of addresses in a block.
func (a *arithmetic) size(n node) int { return 1 << (a.depth - bits.Len8(uint8(n)) + 1) }

// covered returns the set of addresses in the blocks of m.
func (a *arithmetic) covered(m mask) (set uint16) {
	for n := range m.each {
		set |= a.addrs[n]
	}
	return set
}

// room reports whether one of the free blocks has the given size or is larger.
func (a *arithmetic) room(free mask, size int) bool {
	return free&(1<<(2<<a.depth/size)-1) != 0 // blocks of n addresses or more have node numbers below 2*pool/n
}

func (a *arithmetic) blocks(m mask) []netip.Prefix {
	var out []netip.Prefix
	for n := range m.each {
		out = append(out, a.prefixes[n])
	}
	return out
}

func (a *arithmetic) mask(blocks []netip.Prefix) (m mask) {
	for _, p := range blocks {
		m = m.with(a.nodes[p])
	}
	return m
}

// take returns each block that a claim of a size can get, over all strategies and random bits.
func (a *arithmetic) take(free mask, size int) []plan {
	key := [2]mask{free, mask(size)} //nolint:gosec // G115: at most 16
	if plans, ok := a.takes[key]; ok {
		return plans
	}
	var plans []plan
	length := 32 - bits.Len(uint(size)) + 1
	for place := range 1 << a.depth {
		for _, strategy := range []freespace.Strategy{freespace.BestFit, freespace.FirstFit, freespace.Random, freespace.Sparse} {
			w := freespace.BlockRequest{Bits: length, Strategy: strategy, Rand: [16]byte{3: byte(place), 11: byte(place)}}
			if p, ok := a.grant(free, w); ok && !slices.Contains(plans, p) {
				plans = append(plans, p)
			}
		}
	}
	a.takes[key] = plans
	return plans
}

// exact takes an exact block, which must be free or a part of a free block.
func (a *arithmetic) exact(free mask, b node) mask {
	key := [2]mask{free, mask(b)}
	left, ok := a.exacts[key]
	if !ok {
		p, granted := a.grant(free, freespace.BlockRequest{Exact: a.prefixes[b]})
		if !granted {
			panic(fmt.Sprintf("model: %v is not free in %v", a.prefixes[b], a.blocks(free)))
		}
		left = p.free
		a.exacts[key] = left
	}
	return left
}

// grant grants one request as a transaction does. It reads only the rows that freespace.ReadsFor names.
func (a *arithmetic) grant(free mask, w freespace.BlockRequest) (plan, bool) {
	set, err := freespace.NewFreeSet(a.pool, read(a.blocks(free), freespace.ReadsFor(a.pool, []freespace.BlockRequest{w})))
	if err != nil {
		panic(fmt.Sprintf("model: %v: %v", a.blocks(free), err))
	}
	block, ok := set.Take(w)
	if !ok {
		return plan{}, false
	}
	remove, insert := set.Changes()
	return plan{a.nodes[block], free&^a.mask(remove) | a.mask(insert)}, true
}

// merge adds a released block to the free blocks. It merges the block with its free buddies.
func (a *arithmetic) merge(free mask, b node) mask {
	key := [2]mask{free, mask(b)}
	merged, ok := a.merges[key]
	if !ok {
		released := []netip.Prefix{a.prefixes[b]}
		buddies := free & a.mask(freespace.MergeCandidates(released, a.pool))
		remove, insert := freespace.Merge(released, a.blocks(buddies), a.pool)
		merged = free&^a.mask(remove) | a.mask(insert)
		a.merges[key] = merged
	}
	return merged
}

// unlend removes a block from the loan records. It splits a record that contains the block, and deletes the records inside the block.
func (a *arithmetic) unlend(loans mask, b node) mask {
	key := [2]mask{loans, mask(b)}
	left, ok := a.returns[key]
	if !ok {
		for n := range loans.each {
			switch p := a.prefixes[n]; {
			case freespace.Contains(a.prefixes[b], p):
			case freespace.Contains(p, a.prefixes[b]):
				left |= a.mask(freespace.Carve(p, a.prefixes[b]))
			default:
				left = left.with(n)
			}
		}
		a.returns[key] = left
	}
	return left
}

// read returns the rows that a store's statements would read.
func read(rows []netip.Prefix, reads freespace.Reads) []netip.Prefix {
	var out []netip.Prefix
	for _, p := range rows {
		if slices.Contains(reads.Keys, p) {
			out = append(out, p)
		}
	}
	for _, scan := range reads.Scans {
		var found []netip.Prefix
		for _, p := range rows {
			if scan.MinBits <= p.Bits() && p.Bits() <= scan.MaxBits && p.Addr().Compare(scan.From) >= 0 {
				found = append(found, p)
			}
		}
		slices.SortFunc(found, func(x, y netip.Prefix) int {
			length := cmp.Compare(x.Bits(), y.Bits())
			switch scan.Order {
			case freespace.TightestFirst:
				return cmp.Or(-length, x.Addr().Compare(y.Addr()))
			case freespace.LargestFirst:
				return cmp.Or(length, x.Addr().Compare(y.Addr()))
			default:
				return x.Addr().Compare(y.Addr())
			}
		})
		out = append(out, found[:min(len(found), scan.Limit)]...)
	}
	return out
}
