package transfer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/converge"
	"github.com/carve-ipam/carve/internal/cli/rules"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// wanted returns the pools that the source wants and then the claims. An outer pool comes before the pools inside it.
func (v *view) wanted() []*item {
	var all []*item
	for _, i := range v.all() {
		if i.outcome == "" && (i.isPool() || i.kind == rules.AsClaim) {
			all = append(all, i)
		}
	}
	rank := func(i *item) int {
		if i.isPool() {
			return int(i.depth)
		}
		return math.MaxInt
	}
	slices.SortStableFunc(all, func(a, b *item) int { return cmp.Compare(rank(a), rank(b)) })
	return all
}

// match finds the mirror's object for each item. If an object has no item, the mirror will release it.
func (v *view) match(m *mirror) {
	made := map[place][]*item{}
	for _, e := range v.made {
		made[e.place()] = append(made[e.place()], e)
	}
	for _, i := range v.wanted() {
		for _, e := range made[i.place()] {
			if e.counterpart == nil && e.kind == i.kind && sameParent(i, e) && (i.spec == nil || i.name == e.name) {
				i.counterpart, e.counterpart, i.name = e, i, e.name
				break
			}
		}
	}
	for _, i := range v.all() {
		v.keep(m, i)
	}
	v.reservations()
	v.unwanted(m.of)
}

// sameParent reports whether an object is carved from the pool that contains the item i.
func sameParent(i, e *item) bool {
	switch p := i.parent; {
	case p == nil:
		return e.ownParent == "" || e.ownParent == i.ownParent
	case p.onServer:
		return p.name == e.ownParent
	default:
		return p.counterpart != nil && p.counterpart.name == e.ownParent
	}
}

// keep plans the changes to an existing object. It does not change an object that the mirror did not make, unless the mirror may adopt it.
func (v *view) keep(m *mirror, i *item) {
	e := i.counterpart
	if e == nil || i.kind != e.kind || i.outcome == outcomeRefused || i.outcome == outcomeSkipped {
		return
	}
	switch labels := e.labelMap(); {
	case labels[shadowLabel] == m.name && !v.leads(e):
	case !m.adopt || labels[shadowLabel] != "" || labels[planLabel] != "" || v.leads(e):
		return
	}
	if all := specDifferences(i, e); len(all) > 0 {
		i.end(outcomeDiffers, strings.Join(all, "; "))
		return
	}
	c := m.change(i, e)
	if len(c.what) == 0 {
		i.end(outcomeSame, "")
		return
	}
	i.end(outcomeChange, strings.Join(c.what, "; "))
	v.changes = append(v.changes, c)
}

// leads reports whether Carve leads in an object's pool.
func (v *view) leads(e *item) bool { return v.inLed[e.id()] }

// reservations sets the outcome of each range from its pools.
func (v *view) reservations() {
	changes := map[*item]*change{}
	for n := range v.changes {
		changes[v.changes[n].i] = &v.changes[n]
	}
	for _, r := range v.items {
		if r.kind != rules.AsReservation || r.outcome != "" {
			continue
		}
		r.ending = exists
		for _, s := range r.parts {
			c := changes[s.pool]
			switch {
			case s.pool.counterpart == nil:
				r.ending = pending // the reservation is created together with its pool
			case c != nil && !s.in(s.pool.counterpart) && r.outcome != "":
				r.end(outcomeChange, "pool "+s.pool.name+" exists without this reservation")
				c.ranges = append(c.ranges, r)
			}
		}
	}
}

// in reports whether a pool on the server has a reservation for exactly this span.
func (s span) in(pool *item) bool {
	return slices.ContainsFunc(pool.spans(), func(is span) bool { return is.first == s.first && is.last == s.last })
}

// unwanted finds the objects that the mirror made and that the source no longer has after the mapping.
func (v *view) unwanted(of string) {
	wishes := map[place][]*item{}
	var ranges []*item
	for _, i := range v.all() {
		if i.isRange() {
			ranges = append(ranges, i)
			continue
		}
		wishes[i.place()] = append(wishes[i.place()], i)
	}
	for _, e := range v.made {
		if e.counterpart != nil {
			continue
		}
		why, stays := of+" no longer has it", false
		for _, i := range wishes[e.place()] {
			stays = stays || i.outcome == outcomeRefused
			switch {
			case i.outcome != "":
				why = i.why
			case i.kind != e.kind:
				why = "it becomes a " + i.kind
			case i.parent != nil:
				why = "it moves into pool " + i.parent.name
			default:
				why = "it moves out of pool " + e.ownParent
			}
		}
		for _, r := range ranges {
			stays = stays || r.outcome == outcomeRefused && r.covers(e)
		}
		e.end(e.outcome, why)
		if stays {
			v.still = append(v.still, e)
		} else {
			v.releases = append(v.releases, e)
		}
	}
	v.insideOut()
}

// insideOut puts claims before pools, and inner pools before outer pools.
func (v *view) insideOut() {
	parent := map[string]string{}
	for _, e := range v.made {
		if e.isPool() {
			parent[e.project()+"/"+e.name] = e.project() + "/" + e.ownParent
		}
	}
	depth := func(e *item) (n int) {
		if !e.isPool() {
			return math.MaxInt
		}
		for at := parent[e.project()+"/"+e.name]; at != ""; at = parent[at] {
			n++
		}
		return n
	}
	slices.SortStableFunc(v.releases, func(a, b *item) int { return cmp.Compare(depth(b), depth(a)) })
}

// order gives the new items unused names, and plans their creation.
func (v *view) order() {
	taken := map[projectName]domain{}
	for project, st := range v.states {
		for name, p := range st.Pools {
			taken[projectName{project, name}] = domainOf(project, converge.SpaceOf(p))
		}
		for c := range st.Claims.All() {
			taken[projectName{project, c.Name}] = cmp.Or(taken[projectName{project, c.Pool.Name}], domainOf(project, "another project's"))
		}
	}
	for _, i := range v.all() {
		if i.outcome == "" && i.counterpart == nil && i.spec == nil && (i.isPool() || i.kind == rules.AsClaim) {
			i.unique(taken)
		}
	}
	for _, i := range v.all() {
		if i.isPool() && i.outcome == "" && len(i.holds) > 0 {
			i.details().annotations = i.withMarks()
		}
	}
	v.byName()
	v.steps()
}

// removals limits the releases in one pass. The limit is a number or a share of the mirror's objects.
type removals struct {
	number  int
	percent float64
	any     bool
}

// against returns the reason why a comparison's releases are refused. If they are allowed, it returns "".
func (r removals) against(v *view) string {
	unreadable := 0
	for n, row := range v.rows {
		if outcome, _ := row.ended(); outcome == outcomeRefused && v.records.At(n).Problem != "" {
			unreadable++
		}
	}
	total := len(v.made) + len(v.keeps)
	limit := r.number
	if r.percent > 0 {
		limit = int(math.Ceil(float64(total) * r.percent / 100))
	}
	switch n := len(v.releases); {
	case n == 0 || r.any:
		return ""
	case unreadable > 0:
		return show.CountOf(unreadable, "row") + " of the source cannot be read, so the mirror does not know which objects are gone"
	case n == total:
		return fmt.Sprintf("the source has none of the %d mirrored things", total)
	case n > limit:
		return fmt.Sprintf("the source no longer has %d of the %d mirrored things, and one pass may release at most %d", n, total, limit)
	default:
		return ""
	}
}
