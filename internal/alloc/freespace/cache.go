package freespace

import (
	"net/netip"
	"slices"
)

// FreeListCache caches rows from a container's free list between transactions. For each prefix length, it has all rows that begin in one address
// range. It serves reads without the store while no other process has changed the free list. Its owner must verify this. One goroutine may use it at
// a time.
type FreeListCache struct {
	container netip.Prefix
	lengths   []cachedRange
}

// cachedRange contains all free blocks with one length that begin in an address range. The range includes both ends.
type cachedRange struct {
	bounded  bool
	from, to uint128
	bases    []uint128 // ascending
}

// MaxCachedBlocks limits the cached rows for one container. If there are more rows, trim shortens the range with the most rows.
const MaxCachedBlocks = 1024

// NewFreeListCache returns an empty cache for a container.
func NewFreeListCache(container netip.Prefix) *FreeListCache {
	return &FreeListCache{container: container, lengths: make([]cachedRange, Width(container)+1)}
}

// Fill caches the rows that reads returned. rows must have all rows that the reads request, and may have more. The reads must have seen the same
// version of the free list as the cache.
func (k *FreeListCache) Fill(reads Reads, rows []netip.Prefix) {
	byLength := make([][]uint128, len(k.lengths))
	for _, p := range slices.SortedFunc(slices.Values(rows), Compare) {
		l := &byLength[p.Bits()]
		if base := numberOf(p.Addr()); len(*l) == 0 || (*l)[len(*l)-1] != base {
			*l = append(*l, base)
		}
	}
	for _, scan := range reads.Scans {
		k.fill(scan, byLength)
	}
	k.trim()
}

// fill caches the range for which one scan proves that its rows are complete. A scan returns the first rows in an order. So there are no other rows
// before the last returned row.
func (k *FreeListCache) fill(scan Scan, rows [][]uint128) {
	from, end := numberOf(scan.From), lastOf(k.container)
	if scan.Order == LowestFirst {
		var all []uint128
		for bits := scan.MinBits; bits <= scan.MaxBits; bits++ {
			all = append(all, basesFrom(rows[bits], from)...)
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
		l := basesFrom(rows[bits], from)
		if len(l) >= left {
			k.lengths[bits].join(from, l[left-1], rows[bits])
			return
		}
		k.lengths[bits].join(from, end, rows[bits])
		left -= len(l)
	}
}

// lengths yields the prefix lengths in the scan's order. LowestFirst orders only by address, so lengths then yields the longest length first.
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

// basesFrom returns the ascending bases that are at least low.
func basesFrom(bases []uint128, low uint128) []uint128 {
	i, _ := slices.BinarySearchFunc(bases, low, uint128.compare)
	return bases[i:]
}

// basesWithin returns the ascending bases in a range, both ends included.
func basesWithin(bases []uint128, from, to uint128) []uint128 {
	bases = basesFrom(bases, from)
	i, found := slices.BinarySearchFunc(bases, to, uint128.compare)
	if found {
		i++
	}
	return bases[:i]
}

// join adds a range for which the rows are complete. If the new range does not touch the cached range, it replaces the cached range.
func (s *cachedRange) join(from, to uint128, rows []uint128) {
	if to.less(from) {
		return
	}
	if !s.bounded || to.less(s.from) || s.to.less(from) {
		*s = cachedRange{true, from, to, slices.Clone(basesWithin(rows, from, to))}
		return
	}
	bases := slices.Concat(s.bases, basesWithin(rows, from, to))
	slices.SortFunc(bases, uint128.compare)
	s.bases = slices.Compact(bases)
	if from.less(s.from) {
		s.from = from
	}
	if s.to.less(to) {
		s.to = to
	}
}

// Read returns the requested rows from the cache, in the form that Fill takes. If the cache does not cover them all, Read returns false.
func (k *FreeListCache) Read(reads Reads) (rows []netip.Prefix, ok bool) {
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
		if rows, ok = k.read(scan, rows); !ok {
			return nil, false
		}
	}
	return rows, true
}

func (k *FreeListCache) read(scan Scan, rows []netip.Prefix) (_ []netip.Prefix, ok bool) {
	from, end, width, left := numberOf(scan.From), lastOf(k.container), Width(k.container), scan.Limit
	if scan.Order == LowestFirst {
		end = k.horizon(scan, end)
	}
	for bits := range scan.lengths {
		s := &k.lengths[bits]
		if !s.covers(from) {
			return nil, false
		}
		l := basesWithin(s.bases, from, end)
		l = l[:min(len(l), scan.Limit)]
		for _, base := range l {
			rows = append(rows, block(base, bits, width))
		}
		left -= len(l)
		switch {
		case scan.Order == LowestFirst:
		case left <= 0:
			return rows, true
		case s.to.less(end): // the store may have more rows with this length
			return nil, false
		}
	}
	return rows, left <= 0 || end == lastOf(k.container)
}

// horizon returns the last address up to which the cache covers all the scan's lengths. The result is at most end.
func (k *FreeListCache) horizon(scan Scan, end uint128) uint128 {
	for bits := range scan.lengths {
		if s := &k.lengths[bits]; s.to.less(end) {
			end = s.to
		}
	}
	return end
}

// covers reports whether the range contains the address base. Then the cache has the row that begins there, if the row exists.
func (s *cachedRange) covers(base uint128) bool {
	return s.bounded && !base.less(s.from) && !s.to.less(base)
}

// Apply makes the same change in the cache as in the free list.
func (k *FreeListCache) Apply(remove, insert []netip.Prefix) {
	for _, p := range remove {
		s, base := &k.lengths[p.Bits()], numberOf(p.Addr())
		if !s.covers(base) {
			continue
		}
		i, there := slices.BinarySearchFunc(s.bases, base, uint128.compare)
		if !there { // the cache is wrong, so drop the range
			*s = cachedRange{}
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

// trim drops the upper half of the range with the most rows, until the cache has at most MaxCachedBlocks rows.
func (k *FreeListCache) trim() {
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
		if total <= MaxCachedBlocks {
			return
		}
		s := &k.lengths[longest]
		s.bases = slices.Clone(s.bases[:len(s.bases)/2])
		s.to = s.bases[len(s.bases)-1]
	}
}
