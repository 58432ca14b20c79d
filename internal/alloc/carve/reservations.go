package carve

import (
	"net/netip"
	"strconv"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Reserved is one aligned block in a reservation.
type Reserved struct {
	Block  netip.Prefix
	Reason string
	Index  int // the reservation's index in the spec
}

// CutReservations cuts a pool's reservations into aligned blocks. It cuts each reservation into as few blocks as possible. It refuses reservations
// that lie outside the pool, that overlap, or that need more than ipam.MaxReservedBlocks blocks together.
func CutReservations(pool netip.Prefix, list []ipam.Reservation) ([]Reserved, error) {
	var out []Reserved
	whole, err := freespace.NewFreeSet(pool, []netip.Prefix{pool})
	if err != nil {
		return nil, err
	}
	for i, r := range list {
		at := "/spec/reservations/" + strconv.Itoa(i)
		blocks, err := blocksOf(at, pool, r)
		if err != nil {
			return nil, err
		}
		if err := ipam.CheckText(at+"/reason", r.Reason, ipam.MaxReason, false); err != nil {
			return nil, err
		}
		if len(out)+len(blocks) > ipam.MaxReservedBlocks {
			return nil, ipam.Invalid("/spec/reservations", "need more than %d aligned blocks in total; use fewer ranges, or ranges that are aligned blocks.", ipam.MaxReservedBlocks)
		}
		for _, b := range blocks {
			if _, ok := whole.Take(freespace.BlockRequest{Exact: b}); !ok {
				return nil, ipam.Invalid(at, "overlaps another reservation of this pool at %s.", b)
			}
			out = append(out, Reserved{Block: b, Reason: r.Reason, Index: i})
		}
	}
	return out, nil
}

func blocksOf(at string, pool netip.Prefix, r ipam.Reservation) ([]netip.Prefix, error) {
	ways := 0
	for _, set := range []bool{r.CIDR.IsValid(), r.From.IsValid() || r.To.IsValid(), r.First != 0, r.Last != 0} {
		if set {
			ways++
		}
	}
	if ways != 1 {
		return nil, ipam.Invalid(at, "must have exactly one of cidr, from with to, first, last.")
	}
	for _, a := range []struct {
		field string
		addr  netip.Addr
	}{{"/cidr", r.CIDR.Addr()}, {"/from", r.From}, {"/to", r.To}} {
		if a.addr.IsValid() && ipam.FamilyOf(a.addr) != ipam.FamilyOf(pool.Addr()) {
			return nil, ipam.Errorf(ipam.CodeFamilyMismatch, "The pool is %s (%s); a reservation is %s.", ipam.FamilyOf(pool.Addr()), pool, ipam.FamilyOf(a.addr)).
				At(at+a.field, "must be %s.", ipam.FamilyOf(pool.Addr()))
		}
	}
	switch {
	case r.CIDR.IsValid():
		if !freespace.Contains(pool, r.CIDR) {
			return nil, ipam.Invalid(at+"/cidr", "is not inside the pool (%s).", pool)
		}
		return []netip.Prefix{r.CIDR}, nil
	case r.First != 0 || r.Last != 0:
		return edgeBlocks(at, pool, r)
	}
	if !r.From.IsValid() || !r.To.IsValid() {
		return nil, ipam.Invalid(at, "must have both from and to.")
	}
	if !pool.Contains(r.From) {
		return nil, ipam.Invalid(at+"/from", "is not inside the pool (%s).", pool)
	}
	if !pool.Contains(r.To) {
		return nil, ipam.Invalid(at+"/to", "is not inside the pool (%s).", pool)
	}
	if r.To.Less(r.From) {
		return nil, ipam.Invalid(at+"/to", "must not be before from.")
	}
	return freespace.FromRange(r.From, r.To), nil
}

func edgeBlocks(at string, pool netip.Prefix, r ipam.Reservation) ([]netip.Prefix, error) {
	n, field, cut := r.First, "/first", freespace.FirstN
	if r.Last != 0 {
		n, field, cut = r.Last, "/last", freespace.LastN
	}
	if n < 1 || n > ipam.MaxReservedAddresses {
		return nil, ipam.Invalid(at+field, "must be 1 to %d.", ipam.MaxReservedAddresses)
	}
	if hostBits := pool.Addr().BitLen() - pool.Bits(); hostBits < 63 && n > 1<<hostBits {
		return nil, ipam.Invalid(at+field, "must be 1 to %d, the number of addresses in the pool.", int64(1)<<hostBits)
	}
	return cut(pool, uint64(n)), nil
}

// ReservedBlocks returns the aligned blocks of a pool's reservations with their reasons. The audit compares them with the rows.
func ReservedBlocks(pool netip.Prefix, list []ipam.Reservation) (map[netip.Prefix]string, error) {
	cut, err := CutReservations(pool, list)
	if err != nil {
		return nil, err
	}
	out := make(map[netip.Prefix]string, len(cut))
	for _, r := range cut {
		out[r.Block] = r.Reason
	}
	return out, nil
}
