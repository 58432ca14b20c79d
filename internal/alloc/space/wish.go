package space

import "net/netip"

// Strategy is how a free block is chosen when any block of the wanted length will do.
type Strategy uint8

const (
	// BestFit takes the tightest free block that is large enough, so that large blocks stay whole; of equally tight ones
	// the lowest, or the first at or after Wish.Start. Its lowest part is handed out.
	BestFit Strategy = iota
	// FirstFit takes the strictly lowest address at which a block of the wanted length is free.
	FirstFit
	// Random draws a place for the block from Wish.Rand, all places of the container being equally likely. If that
	// place is not free, it takes a random part of the first free block that is large enough and starts at or after
	// Wish.Start (by default the place drawn), going on from the lowest address at the end of the container.
	Random
	// Sparse takes the lowest part of the largest free block, the lowest of them if there are several. Each block handed
	// out so lies at the beginning of as much room to grow as there is: in an empty container of eight, 0 4 2 6 1 3 5 7,
	// which is the leftmost assignment of RFC 3531 up to the order among equals.
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

// Wish asks for one block: exactly Exact if that is set, otherwise any one of length Bits, chosen by Strategy. Every value is
// allowed; one that no free list of the container could grant is never granted.
type Wish struct {
	Exact    netip.Prefix // this very block, canonical; the other fields are then ignored
	Bits     int
	Strategy Strategy
	Rand     [16]byte   // used by Random alone; uniform bits, fixed before the transaction so that a retry repeats the plan
	Start    netip.Addr // where BestFit and Random (see there) begin to look; ignored if not in the container
}

// satisfiable reports whether some free list of the container could grant w.
func (w Wish) satisfiable(container netip.Prefix) bool {
	if w.Exact != (netip.Prefix{}) {
		return Canonical(w.Exact) && Contains(container, w.Exact)
	}
	return w.Strategy <= Sparse && container.Bits() <= w.Bits && w.Bits <= Width(container)
}

// place is the block that Random draws first.
func (w Wish) place(container netip.Prefix) netip.Prefix { return Sub(container, w.Bits, w.Rand) }

// placeIn is the part of free that Random takes when its first draw was not free. It uses the other half of the random
// bits first: those that were drawn from are not independent of the fact that their place was held.
func (w Wish) placeIn(free netip.Prefix) netip.Prefix {
	var turned [16]byte
	copy(turned[:8], w.Rand[8:])
	copy(turned[8:], w.Rand[:8])
	return Sub(free, w.Bits, turned)
}

// start is where the search of w begins: an address of the container.
func (w Wish) start(container netip.Prefix) netip.Addr {
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

// ShareStart gives every Random wish that has no Start, and every BestFit wish that has one, the Start of the first of its
// kind, so that ReadsFor need not read a neighbourhood of each. Call it on a large batch before ReadsFor and Take: n wishes
// with starts of their own read up to n² rows, with one start 2n for each length. A Random wish keeps its own first draw,
// and with it its randomness for as long as the place drawn is free. BestFit wishes start somewhere to keep apart from
// those of other transactions, for which one place will do.
func ShareStart(container netip.Prefix, wishes []Wish) {
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
