package refusals

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Refusal returns the error for a request that one pool cannot serve, with current figures. pointer is the request's field with the exact CIDR.
func (s *Refusals) Refusal(ctx context.Context, viewer Viewer, lack *regions.NoRoom, pointer string) error {
	pool, wish := lack.Pool, lack.Request
	switch {
	case wish.Exact.IsValid():
		return TakenRefusal(ctx, s.Store, viewer, pool, wish.Exact, pointer)
	case lack.Stock != nil:
		pool.Stock = *lack.Stock
		return s.exhausted(ctx, viewer, []ipam.Pool{pool}, wish.Bits, 0)
	default:
		return s.Exhausted(ctx, viewer, []ipam.Pool{pool}, wish.Bits, 0)
	}
}

// Lacking is the error that ends a transaction because no pool has a free block of the wanted length. It has no figures. WithFigures counts them
// after the transaction. In the transaction, the count would delay other requests, because it is slow in a fragmented pool.
type Lacking struct {
	Viewer   Viewer
	Pools    []ipam.Pool
	Bits     int
	Complete func(error) error // adds to the refusal; nil: nothing to add

	Item    int              // in a batch: the number of its claims that fit
	Demands []regions.Demand // in a batch: the blocks that it needs from pools in several regions
}

// Error implements error.
func (*Lacking) Error() string { return "the pools have no room" }

// WithFigures turns a *Lacking into the refusal with its figures. It returns other errors unchanged.
func (s *Refusals) WithFigures(ctx context.Context, err error) error {
	lack, ok := errors.AsType[*Lacking](err)
	if !ok {
		return err
	}
	err = s.Exhausted(ctx, lack.Viewer, lack.Pools, lack.Bits, lack.Item)
	if lack.Complete != nil {
		err = lack.Complete(err)
	}
	return err
}

// Viewer describes the project that reads a refusal, and its request. A refusal does not name another project's pools behind a class.
type Viewer struct {
	Project storage.ProjectKey // zero: no viewer
	Class   *ipam.Class
	First   bool // the request needs a new pool for its scope
}

// name returns the pool's name as the viewer may see it.
func (t Viewer) name(p ipam.Pool) string {
	if t.Hides(p) {
		return usecase.HiddenName(p.Ref())
	}
	return p.Ref().String()
}

// Hides reports whether the viewer must not see the pool's name.
func (t Viewer) Hides(p ipam.Pool) bool { return t.Class != nil && p.ProjectID != t.Project.ID }

// subjectAndVerb returns the start of a sentence about the tried pools, in the present tense.
func (t Viewer) subjectAndVerb(pools []ipam.Pool) (subject, verb string) {
	switch {
	case t.Class != nil && t.Class.Scoped() && !t.First:
		return "The pool of this scope of class " + t.Class.Ref().String(), "has"
	case t.Class != nil:
		return "The pools behind class " + t.Class.Ref().String(), "have"
	case len(pools) > 1:
		return "The pools tried", "have"
	default:
		return "Pool " + pools[0].Ref().String(), "has"
	}
}

// noRoomSentence returns the sentence that the pools have no block of the wanted length. largest is the largest free block's length, or nil if no
// block is free. claimsFit is the number of claims in a batch that fit before the first claim that did not. The figures for a batch describe the
// state before the batch, so the sentence is then in the past tense.
func (t Viewer) noRoomSentence(pools []ipam.Pool, bits int, largest *int, available *big.Int, claimsFit int) string {
	subject, verb := t.subjectAndVerb(pools)
	needs := fmt.Sprintf("a block of length /%d", bits)
	if t.First {
		needs = fmt.Sprintf("a pool of length /%d for its scope", bits)
	}
	switch {
	case claimsFit > 0 && largest != nil:
		return fmt.Sprintf("%s had %s addresses free before the batch, and the largest free block was a /%d; the claim that does not fit needs %s.",
			subject, available, *largest, needs)
	case claimsFit > 0:
		return fmt.Sprintf("%s had no free addresses before the batch; the claim that does not fit needs %s.", subject, needs)
	case largest == nil:
		return fmt.Sprintf("%s %s no free addresses; the request needs %s.", subject, verb, needs)
	case t.First:
		return fmt.Sprintf("%s %s no free block of length /%d for the pool of this scope: the largest free block is a /%d, and %s addresses are free in total.",
			subject, verb, bits, *largest, available)
	default:
		return fmt.Sprintf("%s %s no free block of length /%d: the largest free block is a /%d, and %s addresses are free in total.",
			subject, verb, bits, *largest, available)
	}
}

// MaxPoolsNamed limits the pool names in a refusal.
const MaxPoolsNamed = 50

// Exhausted returns the refusal that no pool has a free block of the wanted length. Its figures include the largest free block and the number of free
// addresses. If a large enough block cools down, they include the end of this cool-down. bits is the wanted length in the last pool. If the pools
// have both families, the lengths in the figures are only for the last pool's family, because lengths in two families are not comparable.
//
// Exhausted reads the figures after the transaction that found no free block. claimsFit is the number of claims in a batch that fit.
func (s *Refusals) Exhausted(ctx context.Context, viewer Viewer, pools []ipam.Pool, bits, claimsFit int) error {
	pools = slices.Clone(pools)
	if err := storage.FillStock(ctx, s.Store, pools); err != nil {
		return err
	}
	return s.exhausted(ctx, viewer, pools, bits, claimsFit)
}

// exhausted works like Exhausted, for pools whose Stock is already known.
func (s *Refusals) exhausted(ctx context.Context, viewer Viewer, pools []ipam.Pool, bits, claimsFit int) error {
	family := pools[len(pools)-1].Family()
	available, cooling := new(big.Int), new(big.Int)
	all := ipam.Stock{Free: map[int]int64{}}
	var waiting []storage.RoomQuery // containers with a large enough block in cool-down, and the block's length
	names := make([]string, 0, min(len(pools), MaxPoolsNamed))
	for i, p := range pools {
		if i < MaxPoolsNamed {
			names = append(names, viewer.name(p))
		}
		available.Add(available, p.Stock.Available(p.Family().Bits()))
		cooling.Add(cooling, ipam.Stock{Free: p.Stock.Cooling}.Available(p.Family().Bits()))
		if p.Family() != family {
			continue
		}
		for b, n := range p.Stock.Free {
			all.Free[b] += n
		}
		for length, n := range p.Stock.Cooling {
			if n == 0 || length > bits {
				continue
			}
			for _, c := range storage.PoolContainers(p) {
				waiting = append(waiting, storage.RoomQuery{Container: c, Bits: length})
			}
		}
	}
	var left *int
	if largest, ok := all.LargestFree(); ok {
		left = &largest
	}
	e := ipam.Errorf(ipam.CodePoolExhausted, "%s", viewer.noRoomSentence(pools, bits, left, available, claimsFit))
	e.Figures.LargestFreePrefixLength = left
	e.Figures.WantedPrefixLength, e.Figures.AvailableAddresses, e.Figures.PoolsTried = &bits, available.String(), names
	if viewer.Class != nil {
		e.Figures.Class = viewer.Class.Ref().String()
	}
	if err := s.addCooldown(ctx, e, waiting, cooling); err != nil {
		return err
	}
	if len(waiting) > 0 && e.Code == ipam.CodePoolExhausted { // the block was in cool-down when it was counted, but is free now
		return e.WithCause(ErrCameFree)
	}
	return e
}

// ErrCameFree is the cause of a refusal with outdated figures. A block was in cool-down when it was counted, but is free now.
var ErrCameFree = errors.New("a block has cooled down since the count")

// addCooldown adds the end of the next cool-down to a refusal. If a large enough block is in cool-down, the code becomes exhausted_by_cooldown.
func (s *Refusals) addCooldown(ctx context.Context, e *ipam.Error, waiting []storage.RoomQuery, addresses *big.Int) error {
	if len(waiting) == 0 {
		return nil
	}
	next, err := s.Store.CoolingNext(ctx, waiting)
	if err != nil {
		return err
	}
	var first time.Time
	for _, at := range next {
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	if first.IsZero() {
		return nil
	}
	e.Code = ipam.CodeExhaustedByCooldown
	e.Message += " A block that is large enough is cooling down until " + first.UTC().Format(time.RFC3339) + "."
	e.Figures.CooledDownAt, e.RetryAfter = first.UTC(), max(first.Sub(s.Clock()), time.Second)
	if addresses.Sign() > 0 { // zero: the cool-down began after the count
		e.Figures.CoolingDown = addresses.String()
	}
	return nil
}

// TakenRefusal returns the refusal for an exact CIDR that is allocated, at least in part. For the viewer's own retained allocation, the refusal
// proposes a claim by allocationRef.
func TakenRefusal(ctx context.Context, read storage.Reader, viewer Viewer, pool ipam.Pool, block netip.Prefix, pointer string) error {
	caller := viewer.Project
	held, err := read.AllocationListInPool(ctx, storage.PoolContainer(pool), block, netip.Addr{}, 1)
	if err != nil {
		return err
	}
	if len(held) == 1 && held[0].Block == block && held[0].Phase == ipam.PhaseRetained && held[0].HolderProjectID == caller.ID && !caller.ID.IsZero() {
		e := ipam.Errorf(ipam.CodeAllocationRetained,
			"%s is retained from the deleted claim %s. Claim it with allocationRef %q, or delete that allocation first.",
			block, held[0].Holder, held[0].ID)
		e.Figures.ConflictsWith = []string{caller.Name + "/" + held[0].ID.String()}
		return e.At(pointer, "is retained; set allocationRef instead.")
	}
	place := "pool " + pool.Ref().String()
	if viewer.Hides(pool) {
		place = "the pools behind class " + viewer.Class.Ref().String()
	}
	e := ipam.Errorf(ipam.CodeBlockTaken, "%s is not free in %s: it is allocated, at least in part.", block, place)
	switch {
	case len(held) == 1 && held[0].Block == block && held[0].Phase == ipam.PhaseCoolingDown:
		e.Message = block.String() + " is not free in " + place + ": it is cooling down until " + held[0].CoolUntil.UTC().Format(time.RFC3339) + "."
		e.Figures.CooledDownAt = held[0].CoolUntil.UTC()
	case len(held) == 1 && pool.ProjectID == caller.ID && (held[0].Holder.Project == caller.Name || held[0].Purpose == ipam.PurposeReservation):
		e.Message = block.String() + " is not free in " + place + ": " + heldBy(held[0]) + "." // the project's own allocation, so no secret
		if held[0].Holder.Name != "" {
			e.Figures.ConflictsWith = []string{held[0].Holder.String()}
		}
	}
	bits := block.Bits()
	e.Figures.WantedPrefixLength, e.Figures.PoolsTried = &bits, []string{viewer.name(pool)}
	return e.At(pointer, "must be free as a whole.")
}

// heldBy returns the text that describes a block's allocation to the project that owns it.
func heldBy(a ipam.Allocation) string {
	switch {
	case a.Phase == ipam.PhaseCoolingDown:
		return a.Block.String() + " is cooling down until " + a.CoolUntil.UTC().Format(time.RFC3339)
	case a.Purpose == ipam.PurposeReservation && a.Reason != "":
		return a.Block.String() + " is reserved: " + a.Reason
	case a.Purpose == ipam.PurposeReservation:
		return a.Block.String() + " is reserved"
	case a.Purpose == ipam.PurposeChildPool:
		return a.Block.String() + " is child pool " + a.Holder.String()
	case a.Phase == ipam.PhaseRetained:
		return a.Block.String() + " is retained from the deleted claim " + a.Holder.String()
	default:
		return a.Block.String() + " is held by claim " + a.Holder.String()
	}
}
