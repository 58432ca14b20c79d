package ipam

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
)

// MaxClassNames limits the classes that one pool can back.
const MaxClassNames = 32

// Check validates a pool's spec, as far as that is possible without the parent or the space.
func (s PoolSpec) Check() error {
	root := s.Parent == Ref{}
	switch {
	case root && !s.CIDR.IsValid():
		return Invalid("/spec", "must have cidr (a root pool), or parentRef with prefixLength or cidr (a child pool).")
	case root && s.PrefixLength != nil:
		return Invalid("/spec/prefixLength", "is for child pools; a root pool has cidr.")
	case !root && s.Space != Ref{}:
		return Invalid("/spec/spaceRef", "is for root pools; a child pool uses the space of its parent.")
	case !root && s.CIDR.IsValid() == (s.PrefixLength != nil):
		return Invalid("/spec", "of a child pool must have exactly one of prefixLength and cidr.")
	}
	if s.PrefixLength != nil && (*s.PrefixLength < 0 || *s.PrefixLength > 128) {
		return Invalid("/spec/prefixLength", "must be 0 to 128.")
	}
	if err := checkVisibility(s.Visibility); err != nil {
		return err
	}
	if s.Drain != "" && s.Drain != DrainKeep && s.Drain != DrainDelete {
		return Invalid("/spec/drain", "must be Keep or Delete, or left out.")
	}
	return cmp.Or(
		CheckText("/spec/description", s.Description, MaxDescription, true), checkCount("/spec/reservations", len(s.Reservations), MaxReservations),
		s.checkClassNames(), CheckDuration("/spec/reuseAfter", s.ReuseAfter),
	)
}

func checkVisibility(v Visibility) error {
	return checkWord("/spec/visibility", v, VisibilityPlatform, VisibilityConsumer, VisibilityShared)
}

func (s PoolSpec) checkClassNames() error {
	if err := checkCount("/spec/classNames", len(s.ClassNames), MaxClassNames); err != nil {
		return err
	}
	for i, name := range s.ClassNames {
		at := "/spec/classNames/" + strconv.Itoa(i)
		if !ValidName(name) {
			return Invalid(at, "must be a DNS label: 1 to 63 of a-z, 0-9 and -, beginning and ending with a letter or digit.")
		}
		if slices.Contains(s.ClassNames[:i], name) {
			return Invalid(at, "repeats an earlier entry; list it once.")
		}
	}
	return nil
}

// CheckFor validates the policy for the pool's block. Call it when the server has chosen the block.
func (a Allocating) CheckFor(block netip.Prefix) error {
	if err := checkWord("/spec/allocation/strategy", a.Strategy, FirstFit, BestFit, Random, Sparse); err != nil {
		return err
	}
	width := block.Addr().BitLen()
	for _, f := range []namedLength{
		{"minPrefixLength", a.MinPrefixLength}, {"maxPrefixLength", a.MaxPrefixLength}, {"defaultPrefixLength", a.DefaultPrefixLength},
	} {
		if f.value != nil && (*f.value < block.Bits() || *f.value > width) {
			return Invalid("/spec/allocation/"+f.name, "is %d; a pool of %s can carve lengths %d to %d.", *f.value, block, block.Bits(), width)
		}
	}
	lo, hi := a.Bounds(block)
	if lo > hi {
		return Invalid("/spec/allocation/minPrefixLength", "is %d, longer than maxPrefixLength %d.", lo, hi)
	}
	if d := a.DefaultPrefixLength; d != nil && (*d < lo || *d > hi) {
		return Invalid("/spec/allocation/defaultPrefixLength", "is %d, outside of minPrefixLength %d and maxPrefixLength %d.", *d, lo, hi)
	}
	return nil
}

// Equal reports whether two policies have the same values.
func (a Allocating) Equal(b Allocating) bool {
	return a.Strategy == b.Strategy && same(a.MinPrefixLength, b.MinPrefixLength) &&
		same(a.MaxPrefixLength, b.MaxPrefixLength) && same(a.DefaultPrefixLength, b.DefaultPrefixLength)
}

// Admit checks whether the pool can give out a block with a prefix length. pointer names the request's field with the length. Admit returns these
// errors:
//
//   - never_satisfiable if the pool could not serve the length even if it were empty
//   - prefix_length_rejected if only the pool's policy forbids the length
//   - pool_draining if the pool is draining
func (p Pool) Admit(pointer string, bits int) error {
	lo, hi := p.Spec.Allocation.Bounds(p.Block)
	if bits < lo || hi < bits {
		return p.inadmissible(pointer, bits, lo, hi)
	}
	if p.Draining() {
		return Errorf(CodePoolDraining, "Pool %s is draining: it gives out no more blocks. Its allocations stay until they are released.", p.Ref())
	}
	return nil
}

func (p Pool) inadmissible(pointer string, bits, lo, hi int) error {
	e := Errorf(CodePrefixLengthRejected, "Pool %s gives out prefix lengths /%d to /%d; the request asks for /%d.", p.Ref(), lo, hi, bits)
	if bits < p.Block.Bits() || bits > p.Block.Addr().BitLen() {
		e = Errorf(CodeNeverSatisfiable, "Pool %s is %s and can never hold a /%d. Ask for /%d to /%d.", p.Ref(), p.Block, bits, lo, hi)
	}
	e.Figures.WantedPrefixLength = &bits
	e.Figures.AllowedMin, e.Figures.AllowedMax = &lo, &hi
	return e.At(pointer, "must be %d to %d in this pool.", lo, hi)
}

// AdmitExact checks whether the pool can give out an exact block. It checks the family, then whether the block is inside the pool, and then the
// length.
func (p Pool) AdmitExact(pointer string, block netip.Prefix) error {
	if FamilyOf(block.Addr()) != p.Family() {
		return Errorf(CodeFamilyMismatch, "Pool %s is %s; %s is %s.", p.Ref(), p.Family(), block, FamilyOf(block.Addr())).
			At(pointer, "must be an %s block.", p.Family())
	}
	if block.Bits() < p.Block.Bits() || !p.Block.Contains(block.Addr()) {
		return Errorf(CodeNeverSatisfiable, "%s is not inside pool %s (%s).", block, p.Ref(), p.Block).
			At(pointer, "must be inside %s.", p.Block)
	}
	return p.Admit(pointer, block.Bits())
}
