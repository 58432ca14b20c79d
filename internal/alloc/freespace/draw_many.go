package freespace

import (
	"maps"
	"math/bits"
	"net/netip"
	"slices"
)

// maxPlaces is the number of random positions that a batch draws for its Random requests. All prefix lengths together share this number.
const maxPlaces = 16

// DrawTogether lets the Random requests in a large batch share a few random positions. For each length, the first requests keep their own positions.
// The other requests take the neighbouring positions, also in a random order. Call DrawTogether before ShareStart.
//
// Without it, each request carves at its own position. In a /8, a host block then costs 25 look-ups and leaves 24 remaining blocks. A batch with a
// thousand hosts would change 14,000 free rows under the pool's lock, and the next batch would read as many. Neighbouring requests use up the
// remaining blocks.
func DrawTogether(container netip.Prefix, wishes []BlockRequest) {
	random, byLength := 0, map[int][]*BlockRequest{}
	for i := range wishes {
		w := &wishes[i]
		if w.Strategy == Random && w.Exact == (netip.Prefix{}) && w.satisfiable(container) {
			random++
			byLength[w.Bits] = append(byLength[w.Bits], w)
		}
	}
	if random <= maxPlaces {
		return
	}
	places := max(1, maxPlaces/len(byLength))
	for _, length := range slices.Sorted(maps.Keys(byLength)) {
		alike := byLength[length]
		for i, w := range alike[min(places, len(alike)):] {
			w.Rand = neighbourOf(alike[i%places].Rand, length, i/places+1)
		}
	}
}

// neighbourOf changes random bits so that they select the nth neighbour of their position. length is the block's prefix length. Each n gives a
// different position. The second draw (placeIn) uses other bits in random, and neighbourOf changes these bits in the same way if it can.
func neighbourOf(random [16]byte, length, n int) [16]byte {
	flip := func(bit int) { random[bit/8] ^= 0x80 >> (bit % 8) }
	for i := range bits.Len(uint(n)) {
		bit := length - 1 - i
		if n>>i&1 == 0 || bit < 0 {
			continue
		}
		if flip(bit); bit+64 >= length && bit < 64 {
			flip(bit + 64)
		}
	}
	return random
}
