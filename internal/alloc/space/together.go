package space

import (
	"maps"
	"math/bits"
	"net/netip"
	"slices"
)

// maxPlaces is how many places a batch draws for its Random wishes, all lengths together.
const maxPlaces = 16

// DrawTogether has the Random wishes of a large batch share a few draws: the first wishes of each length keep theirs, and the others
// take the places beside those, in an order that is drawn as well. Call it before ShareStart.
//
// A place of its own for each of a thousand hosts in a /8 costs 25 look-ups and leaves 24 remainders each: the batch changes 14,000
// free rows under the pool's lock, and the next one reads as many again. Beside each other the wishes use up their remainders.
func DrawTogether(container netip.Prefix, wishes []Wish) {
	random, byLength := 0, map[int][]*Wish{}
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
			w.Rand = beside(alike[i%places].Rand, length, i/places+1)
		}
	}
}

// beside turns random bits into those that draw the nth place beside theirs, for a block of the length; each n has a place of its own. The
// second draw (placeIn) is beside the other one's as well, where it is made from other bits.
func beside(random [16]byte, length, n int) [16]byte {
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
