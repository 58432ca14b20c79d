package freespace

import (
	"maps"
	"math/bits"
	"net/netip"
	"slices"
)

// maxPlaces is how many positions a batch draws for its Random wishes, for all lengths together.
const maxPlaces = 16

// DrawTogether makes the Random wishes in a large batch share a few draws: the first wishes with each length keep their draws, and the others take
// the neighbouring positions, in an order that is also random. Call it before ShareStart.
//
// An independent position for each host among a thousand in a /8 costs 25 look-ups and leaves 24 remainders for each host: the batch changes 14,000
// free rows under the pool's lock, and the next batch reads as many. Neighbouring wishes use up their remainders.
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
			w.Rand = beside(alike[i%places].Rand, length, i/places+1)
		}
	}
}

// beside changes random bits so that they draw the nth neighbour of their position, for a block of that length; each n gives a different position. If
// the second draw (placeIn) uses other bits, it becomes a neighbour too.
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
