package freespace

import "net/netip"

// Strategy selects the free block for a request that accepts any block with a given length.
type Strategy uint8

const (
	// BestFit takes the smallest free block that is large enough, so that large blocks stay whole. Among equal blocks, it takes the lowest one. With
	// BlockRequest.Start, it takes the first one at or after Start. It grants the block's lowest part.
	BestFit Strategy = iota
	// FirstFit takes the lowest address at which a block with the requested length is free.
	FirstFit
	// Random draws a position from BlockRequest.Rand. All positions in the container are equally likely. If the position is not free, Random searches
	// for the first free block that is large enough. The search begins at BlockRequest.Start, or at the drawn position if there is no Start. It wraps
	// around at the container's end. Random grants a random part of the block that it finds.
	Random
	// Sparse takes the lowest part of the largest free block. Among equal blocks, it uses the lowest one. So each granted block has as much room as
	// possible to grow. In an empty container with eight blocks, the order is 0 4 2 6 1 3 5 7. This is the leftmost assignment from RFC 3531, except
	// for the order among equal blocks.
	Sparse
)

func (s Strategy) String() string {
	switch s {
	case BestFit:
		return "BestFit"
	case FirstFit:
		return "FirstFit"
	case Random:
		return "Random"
	case Sparse:
		return "Sparse"
	}
	return "unknown"
}

// BlockRequest is a request for one block. If Exact is set, it requests exactly this block. Otherwise it requests any block with length Bits, and
// Strategy selects the block. A BlockRequest may have any value. FreeSet does not grant a request that the container could not serve even if it were
// all free.
type BlockRequest struct {
	Exact    netip.Prefix // the exact CIDR, canonical; if set, the other fields are ignored
	Bits     int
	Strategy Strategy
	Rand     [16]byte   // only for Random: uniform bits, drawn before the transaction so that a retry repeats the plan
	Start    netip.Addr // where BestFit and Random begin their search; ignored if it is not in the container
}

// satisfiable reports whether the container could grant the request w if it were all free.
func (w BlockRequest) satisfiable(container netip.Prefix) bool {
	if w.Exact != (netip.Prefix{}) {
		return Canonical(w.Exact) && Contains(container, w.Exact)
	}
	return w.Strategy <= Sparse && container.Bits() <= w.Bits && w.Bits <= Width(container)
}

// place returns the position that Random draws first.
func (w BlockRequest) place(container netip.Prefix) netip.Prefix {
	return Sub(container, w.Bits, w.Rand)
}

// placeIn returns the part of free that Random takes if its first position was not free. It uses the second half of the random bits first. The first
// half would not be random here, because it selected a held position.
func (w BlockRequest) placeIn(free netip.Prefix) netip.Prefix {
	var turned [16]byte
	copy(turned[:8], w.Rand[8:])
	copy(turned[8:], w.Rand[:8])
	return Sub(free, w.Bits, turned)
}

// start returns the address in the container where the search for w begins.
func (w BlockRequest) start(container netip.Prefix) netip.Addr {
	switch {
	case w.Strategy != BestFit && w.Strategy != Random:
		return container.Addr()
	case container.Contains(w.Start):
		return w.Start
	case w.Strategy == Random:
		return w.place(container).Addr()
	}
	return container.Addr()
}

// ShareStart lets a batch's requests share one Start, so that ReadsFor does not read different rows for each request. Call it on a large batch before
// ReadsFor and Take. n requests with different starts read up to n² rows for each length. With one start, they read 2n.
//
// Each Random request without a Start gets the first Random request's start. Such a request still takes its own drawn position if that position is
// free. Each BestFit request with a Start gets the first such BestFit request's Start. BestFit requests have a Start only to avoid other
// transactions, so a common Start is enough.
func ShareStart(container netip.Prefix, wishes []BlockRequest) {
	var random, best netip.Addr
	for i := range wishes {
		w := &wishes[i]
		if w.Exact != (netip.Prefix{}) || !w.satisfiable(container) {
			continue
		}
		switch begins := container.Contains(w.Start); {
		case w.Strategy == Random:
			if !random.IsValid() {
				random = w.start(container)
			}
			if !begins {
				w.Start = random
			}
		case w.Strategy == BestFit && begins:
			if !best.IsValid() {
				best = w.Start
			}
			w.Start = best
		}
	}
}
