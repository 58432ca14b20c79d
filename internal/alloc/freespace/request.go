package freespace

import "net/netip"

// Strategy selects the free block for a wish that accepts any block with a given length.
type Strategy uint8

const (
	// BestFit takes the smallest free block that is large enough, so that large blocks stay whole; among equals the lowest, or the first at or after
	// BlockRequest.Start. It grants that block's lowest part.
	BestFit Strategy = iota
	// FirstFit takes the lowest address at which a block with the wanted length is free.
	FirstFit
	// Random draws a position from BlockRequest.Rand; all positions in the container are equally likely. If that position is not free, it takes a random part
	// of the first free block that is large enough and starts at or after BlockRequest.Start (by default the position drawn). It wraps around at the
	// container's end.
	Random
	// Sparse takes the largest free block's lowest part; among equals the lowest. So each granted block has as much room to grow after it as
	// possible: in an empty container of eight, 0 4 2 6 1 3 5 7. This is the leftmost assignment of RFC 3531 except for the order among equals.
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

// BlockRequest is a request for one block: exactly Exact if that is set, otherwise any block with length Bits, chosen by Strategy. It may have any value;
// FreeSet never grants a wish that no free list in the container could satisfy.
type BlockRequest struct {
	Exact    netip.Prefix // the exact CIDR, canonical; if set, the other fields are ignored
	Bits     int
	Strategy Strategy
	Rand     [16]byte   // for Random alone: uniform bits, fixed before the transaction so that a retry repeats the plan
	Start    netip.Addr // where BestFit and Random (see there) begin their search; ignored if not in the container
}

// satisfiable reports whether some free list in the container could grant w.
func (w BlockRequest) satisfiable(container netip.Prefix) bool {
	if w.Exact != (netip.Prefix{}) {
		return Canonical(w.Exact) && Contains(container, w.Exact)
	}
	return w.Strategy <= Sparse && container.Bits() <= w.Bits && w.Bits <= Width(container)
}

// place returns the block that Random draws first.
func (w BlockRequest) place(container netip.Prefix) netip.Prefix {
	return Sub(container, w.Bits, w.Rand)
}

// placeIn returns the part of free that Random takes if its first draw was not free. It uses the other half of the random bits first: the bits of the
// first draw depend on the fact that the position was held.
func (w BlockRequest) placeIn(free netip.Prefix) netip.Prefix {
	var turned [16]byte
	copy(turned[:8], w.Rand[8:])
	copy(turned[8:], w.Rand[:8])
	return Sub(free, w.Bits, turned)
}

// start returns the address in the container where the search of w begins.
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

// ShareStart gives every Random wish without a Start, and every BestFit wish with one, the Start of the first wish of its kind, so that ReadsFor does
// not read a neighbourhood for each. Call it on a large batch before ReadsFor and Take: n wishes with different starts read up to n² rows, with one
// start 2n for each length. A Random wish keeps its own first draw, and stays random as long as the drawn position is free. BestFit wishes have a
// Start only to avoid other transactions, and one common Start is enough for that.
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
