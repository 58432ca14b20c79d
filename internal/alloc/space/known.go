package space

import (
	"net/netip"
	"slices"
)

// Known is what is remembered of a container's free list between transactions: of each length, all rows that begin in one range of addresses.
// It answers reads without the store as long as nobody else has changed the free list; whoever keeps it has to know that. It is for one goroutine.
type Known struct {
	container netip.Prefix
	lengths   []stretch
}

// stretch is the free blocks of one length that begin in a range of addresses, both ends included.
type stretch struct {
	known    bool
	from, to uint128
	bases    []uint128 // ascending
}

// MaxKnown is how many rows of one container are remembered at most. The longest stretch is cut when there are more.
const MaxKnown = 1024

// NewKnown knows nothing of a container.
func NewKnown(container netip.Prefix) *Known {
	return &Known{container: container, lengths: make([]stretch, Width(container)+1)}
}

// Learn remembers what reads have answered: rows has all that they asked for, and may have more. The reads must have seen the free list as it is
// remembered.
func (k *Known) Learn(reads Reads, rows []netip.Prefix) {
	byLength := make([][]uint128, len(k.lengths))
	for _, p := range slices.SortedFunc(slices.Values(rows), Compare) {
		l := &byLength[p.Bits()]
		if base := numberOf(p.Addr()); len(*l) == 0 || (*l)[len(*l)-1] != base {
			*l = append(*l, base)
		}
	}
	for _, scan := range reads.Scans {
		k.learn(scan, byLength)
	}
	k.trim()
}

// learn adds what one scan proves: that it answers the first rows of an order says that there are no others before the last of them.
func (k *Known) learn(scan Scan, rows [][]uint128) {
	from, end := numberOf(scan.From), lastOf(k.container)
	if scan.Order == LowestFirst {
		var all []uint128
		for bits := scan.MinBits; bits <= scan.MaxBits; bits++ {
			all = append(all, after(rows[bits], from)...)
		}
		if len(all) >= scan.Limit {
			slices.SortFunc(all, uint128.compare)
			end = all[scan.Limit-1]
		}
		for bits := scan.MinBits; bits <= scan.MaxBits; bits++ {
			k.lengths[bits].join(from, end, rows[bits])
		}
		return
	}
	left := scan.Limit
	for bits := range scan.lengths {
		l := after(rows[bits], from)
		if len(l) >= left {
			k.lengths[bits].join(from, l[left-1], rows[bits])
			return
		}
		k.lengths[bits].join(from, end, rows[bits])
		left -= len(l)
	}
}

// lengths are those of the scan in its order; of LowestFirst, which has none, the longest first.
func (s Scan) lengths(yield func(int) bool) {
	for n := range s.MaxBits - s.MinBits + 1 {
		bits := s.MaxBits - n
		if s.Order == LargestFirst {
			bits = s.MinBits + n
		}
		if !yield(bits) {
			return
		}
	}
}

// after is those of ascending bases that are not before from.
func after(bases []uint128, from uint128) []uint128 {
	i, _ := slices.BinarySearchFunc(bases, from, uint128.compare)
	return bases[i:]
}

// within is those of ascending bases that are in a range, both ends included.
func within(bases []uint128, from, to uint128) []uint128 {
	bases = after(bases, from)
	i, found := slices.BinarySearchFunc(bases, to, uint128.compare)
	if found {
		i++
	}
	return bases[:i]
}

// join adds a range in which rows are all that there are. Where it does not meet what is known already it takes its place.
func (s *stretch) join(from, to uint128, rows []uint128) {
	if to.less(from) {
		return
	}
	if !s.known || to.less(s.from) || s.to.less(from) {
		*s = stretch{true, from, to, slices.Clone(within(rows, from, to))}
		return
	}
	bases := slices.Concat(s.bases, within(rows, from, to))
	slices.SortFunc(bases, uint128.compare)
	s.bases = slices.Compact(bases)
	if from.less(s.from) {
		s.from = from
	}
	if s.to.less(to) {
		s.to = to
	}
}

// Answer answers reads from what is known, as Learn takes rows; false if that is not enough.
func (k *Known) Answer(reads Reads) (rows []netip.Prefix, ok bool) {
	for _, key := range reads.Keys {
		s, base := &k.lengths[key.Bits()], numberOf(key.Addr())
		if !s.covers(base) {
			return nil, false
		}
		if _, free := slices.BinarySearchFunc(s.bases, base, uint128.compare); free {
			rows = append(rows, key)
		}
	}
	for _, scan := range reads.Scans {
		if rows, ok = k.answer(scan, rows); !ok {
			return nil, false
		}
	}
	return rows, true
}

// answer adds the rows of one scan.
func (k *Known) answer(scan Scan, rows []netip.Prefix) (_ []netip.Prefix, ok bool) {
	from, end, width, left := numberOf(scan.From), lastOf(k.container), Width(k.container), scan.Limit
	if scan.Order == LowestFirst {
		end = k.horizon(scan, end)
	}
	for bits := range scan.lengths {
		s := &k.lengths[bits]
		if !s.covers(from) {
			return nil, false
		}
		l := within(s.bases, from, end)
		l = l[:min(len(l), scan.Limit)]
		for _, base := range l {
			rows = append(rows, block(base, bits, width))
		}
		left -= len(l)
		switch {
		case scan.Order == LowestFirst:
		case left <= 0:
			return rows, true
		case s.to.less(end): // there may be more of this length
			return nil, false
		}
	}
	return rows, left <= 0 || end == lastOf(k.container)
}

// horizon is how far all lengths of a scan are known.
func (k *Known) horizon(scan Scan, end uint128) uint128 {
	for bits := range scan.lengths {
		if s := &k.lengths[bits]; s.to.less(end) {
			end = s.to
		}
	}
	return end
}

// covers reports whether it is known which blocks begin at a base.
func (s *stretch) covers(base uint128) bool {
	return s.known && !base.less(s.from) && !s.to.less(base)
}

// Apply follows a change of the free list.
func (k *Known) Apply(remove, insert []netip.Prefix) {
	for _, p := range remove {
		s, base := &k.lengths[p.Bits()], numberOf(p.Addr())
		if !s.covers(base) {
			continue
		}
		i, there := slices.BinarySearchFunc(s.bases, base, uint128.compare)
		if !there { // what is known was not so
			*s = stretch{}
			continue
		}
		s.bases = slices.Delete(s.bases, i, i+1)
	}
	for _, p := range insert {
		s, base := &k.lengths[p.Bits()], numberOf(p.Addr())
		if i, there := slices.BinarySearchFunc(s.bases, base, uint128.compare); s.covers(base) && !there {
			s.bases = slices.Insert(s.bases, i, base)
		}
	}
	k.trim()
}

// trim cuts the longest stretch by half, the end of it, until there are no more rows than may be.
func (k *Known) trim() {
	for {
		total, longest := 0, 0
		for bits := range k.lengths {
			if n := len(k.lengths[bits].bases); n > 0 {
				total += n
				if n > len(k.lengths[longest].bases) {
					longest = bits
				}
			}
		}
		if total <= MaxKnown {
			return
		}
		s := &k.lengths[longest]
		s.bases = slices.Clone(s.bases[:len(s.bases)/2])
		s.to = s.bases[len(s.bases)-1]
	}
}
