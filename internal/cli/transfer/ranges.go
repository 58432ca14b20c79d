package transfer

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/converge"
	"github.com/carve-ipam/carve/internal/cli/rules"
)

// span is a part of a range, inside one pool.
type span struct {
	pool        *item // nil if no pool contains the part
	first, last netip.Addr
}

// maxReservations is the server's limit for a pool.
const maxReservations = 64

// lay makes a range's reservations or claims, in the pools that contain its parts.
func (t *tree) lay(r *item) {
	spans := t.spans(t.roots, nil, r.span.First, r.span.Last)
	var free []span
	for _, s := range spans {
		if s.pool == nil {
			r.end(outcomeRefused, fmt.Sprintf("no pool contains %s-%s", s.first, s.last))
			return
		}
		left, ok := t.around(r, s)
		if !ok {
			return
		}
		for _, part := range left {
			free = append(free, t.cut(part)...)
		}
	}
	t.taken = append(t.taken, free...)
	if r.kind == rules.AsClaims {
		t.intoClaims(r, free)
		return
	}
	r.ending = exists
	for _, s := range free {
		t.reserve(r, s)
	}
	if len(free) == 0 {
		r.end(outcomeSkipped, "other rows import all of its addresses")
	}
}

// spans splits a range at pool bounds.
func (t *tree) spans(among []*item, pool *item, first, last netip.Addr) (out []span) {
	next := first
	for _, p := range among {
		lo, hi := p.from(), p.to()
		if !p.isPool() || p.outcome == outcomeRefused || p.outcome == outcomeSkipped || last.Less(lo) || hi.Less(next) || lo.Is4() != first.Is4() {
			continue
		}
		if next.Less(lo) {
			out = append(out, span{pool, next, lo.Prev()})
			next = lo
		}
		end := hi
		if last.Less(hi) {
			end = last
		}
		out = append(out, t.spans(t.children[p], p, next, end)...)
		if next = end.Next(); !next.IsValid() || last.Less(next) {
			return out
		}
	}
	return append(out, span{pool, next, last})
}

// around returns the parts of a span that no claim takes. If a policy has ended the range, it returns false.
func (t *tree) around(r *item, s span) (free []span, ok bool) {
	next := s.first
	for _, c := range t.children[s.pool] {
		if c.isPool() || c.outcome == outcomeRefused || c.outcome == outcomeSkipped || c.to().Less(next) || s.last.Less(c.from()) {
			continue
		}
		if c.row > 0 && c.row == r.row {
			continue // this part of the range already exists
		}
		switch policy := t.desired.mapping.OnOverlap; {
		case policy == rules.First && !c.onServer && r.before(c):
			t.settle(rules.First, r, c, "it overlaps", c)
			continue
		case c.onServer && policy != rules.Narrow:
			if mine(r, c) {
				continue
			}
			r.conflict(c, "part of it is held by "+c.target()+" ("+c.where()+")")
			return nil, false
		case policy == rules.First:
			t.settle(rules.First, r, c, "it overlaps", r)
			return nil, false
		case policy != rules.Narrow:
			t.settle(policy, r, c, "it overlaps", r)
			return nil, false
		case mine(r, c):
			continue
		}
		if next.Less(c.from()) {
			free = append(free, span{s.pool, next, c.from().Prev()})
		}
		if next = c.to().Next(); !next.IsValid() || s.last.Less(next) {
			return free, true
		}
	}
	return append(free, span{s.pool, next, s.last}), true
}

// mine reports whether an earlier import made this claim on the server from the same range.
func mine(r, c *item) bool {
	if r.kind != rules.AsClaims || !c.onServer {
		return false
	}
	row := c.annotationMap()["source-row"]
	return row != "" && row == r.annotationMap()["source-row"]
}

// reserve adds a reservation for a part of a range to the pool.
func (t *tree) reserve(r *item, s span) {
	reason := rules.Text(first(r.text(), r.labelMap()["status"], r.name), 250)
	want := client.Reservation{From: s.first.String(), To: s.last.String(), Reason: reason}
	r.parent = s.pool
	for _, h := range s.pool.holds {
		from, to := converge.Bounds(s.pool.block, h)
		switch {
		case from == s.first && to == s.last:
			return // the pool already has this reservation
		case !to.Less(s.first) && !s.last.Less(from):
			r.end(outcomeRefused, fmt.Sprintf("it overlaps the reservation %s-%s of pool %s", from, to, s.pool.name))
			return
		}
	}
	switch {
	case s.pool.onServer:
		r.end(outcomeDiffers, "pool "+s.pool.name+" exists without this reservation: `ipamctl pool set` adds it")
	case len(s.pool.holds) == maxReservations:
		r.end(outcomeRefused, "pool "+s.pool.name+" has "+strconv.Itoa(maxReservations)+" reservations already: map such ranges to claims")
	default:
		row, pool := r.details(), s.pool.details()
		row.parts = append(row.parts, s)
		pool.holds = append(pool.holds, want)
		slices.SortFunc(s.pool.holds, func(a, b client.Reservation) int {
			return netip.MustParseAddr(a.From).Compare(netip.MustParseAddr(b.From))
		})
		if r.outcome == outcomeSame {
			r.ending = pending // the range gets its pool's outcome
		}
	}
}

// intoClaims replaces a range with several claims.
func (t *tree) intoClaims(r *item, free []span) {
	var parts []*item
	shared := *r.itemDetails
	shared.span = nil
	for _, s := range free {
		for _, block := range converge.Blocks(s.first, s.last) {
			part := *r
			part.kind, part.block, part.itemDetails = rules.AsClaim, block, &shared
			part.parent, part.depth, part.ending = s.pool, s.pool.depth+1, pending
			part.name = rules.WithSuffix(first(r.name, "range"), strconv.Itoa(len(parts)+1))
			parts = append(parts, &part)
		}
	}
	for _, part := range parts {
		for e := range t.existing(part.block) {
			if e.kind != rules.AsClaim {
				continue
			}
			if e.name == part.name {
				t.desired.compare(part, e)
			} else {
				part.conflict(e, "the block is held by "+e.target())
			}
		}
	}
	became := &other{items: parts}
	if len(parts) == 0 {
		became.outcome, became.why = outcomeSkipped, "other rows import all of its addresses"
	}
	t.desired.rows[r.row-1].rest = became
	t.desired.items = append(t.desired.items, parts...)
	r.ending = exists // the parts have their own outcomes
}
