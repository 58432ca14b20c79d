package transfer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/rules"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/source"
)

// tree has the existing and the new items in one routing domain. Each item is below the pool that contains it.
type tree struct {
	desired  *desired
	items    []*item // sorted by byPlace; ranges are not included
	ranges   []*item
	taken    []span // addresses that earlier ranges use, for the policy narrow
	roots    []*item
	children map[*item][]*item
	refused  bool // a policy refuses the whole import
}

// grow puts a domain's items below the pools that contain them. It applies the policies to duplicates and overlaps.
func grow(w *desired, items []*item) *tree {
	t := &tree{desired: w, children: map[*item][]*item{}}
	t.items = slices.DeleteFunc(items, func(i *item) bool {
		if i.isRange() {
			t.ranges = append(t.ranges, i)
		}
		return i.isRange()
	})
	byPlace(t.items)
	if t.decide() {
		byPlace(t.items)
	}
	t.duplicates()
	t.nest()
	t.settleRanges()
	for _, r := range t.ranges {
		if r.outcome == "" {
			t.lay(r)
		}
	}
	return t
}

// decide gives an item with the kind auto the same kind as the server's item with the same block. It reports whether it has changed an item.
func (t *tree) decide() (changed bool) {
	for _, i := range t.items {
		if i.kind != rules.AsAuto {
			continue
		}
		for e := range t.existing(i.block) {
			i.kind, changed = e.kind, true
		}
	}
	return changed
}

// existing iterates over the items on the server that have exactly this block.
func (t *tree) existing(block netip.Prefix) iter.Seq[*item] {
	at, _ := slices.BinarySearchFunc(t.items, block, func(i *item, block netip.Prefix) int {
		return cmp.Or(i.from().Compare(block.Addr()), cmp.Compare(i.block.Bits(), block.Bits()))
	})
	return func(yield func(*item) bool) {
		for ; at < len(t.items) && t.items[at].block == block; at++ {
			if t.items[at].onServer && !yield(t.items[at]) {
				return
			}
		}
	}
}

// duplicates applies the policy to new items that have the same kind and the same block. Pools in Carve's own exports are not duplicates if their
// names differ.
func (t *tree) duplicates() {
	seen := map[[2]string]*item{} // by kind and name: the items with the current block; all items are sorted by block
	var last netip.Prefix
	for _, i := range t.items {
		if i.block != last {
			last = i.block
			clear(seen)
		}
		if i.onServer {
			continue
		}
		k := [2]string{i.kind}
		if i.spec != nil && i.isPool() {
			k[1] = i.name
		}
		other, twice := seen[k]
		if !twice {
			seen[k] = i
			continue
		}
		if i.row > 0 && i.row < other.row && other.outcome == "" {
			i, other = other, i
			seen[k] = other
		}
		policy := t.desired.mapping.OnDuplicate
		if same := i.same(); same != "" && same == other.same() {
			policy = rules.First // several rows are about the same object
		}
		t.settle(policy, other, i, "the same block as", i)
	}
}

// settle applies a policy to two items and ends one or both. how describes the conflict for the message. If the policy keeps one item, settle ends
// loser.
func (t *tree) settle(policy string, a, b *item, how string, loser *item) {
	winner := a
	if loser == a {
		winner = b
	}
	switch policy {
	case rules.Refuse:
		t.refused = true
		a.end(outcomeRefused, how+" "+t.messageName(b))
		b.end(outcomeRefused, how+" "+t.messageName(a))
	case rules.Skip:
		a.end(outcomeSkipped, how+" "+t.messageName(b))
		b.end(outcomeSkipped, how+" "+t.messageName(a))
	default:
		loser.end(outcomeSkipped, how+" "+t.messageName(winner)+", which is kept")
	}
}

// messageName returns an item's name for messages: its row's ID, or its name in Carve if it has no row.
func (t *tree) messageName(i *item) string {
	if i.row == 0 {
		return i.target() + " (" + i.where() + ")"
	}
	return t.desired.records.At(int(i.row)-1).ID + " (" + i.where() + ")"
}

// nest finds the pool that contains each item.
func (t *tree) nest() {
	var stack []*item
	for n, i := range t.items {
		if i.outcome != "" {
			continue
		}
		for len(stack) > 0 && !around(stack[len(stack)-1], i) {
			stack = stack[:len(stack)-1]
		}
		stack = t.place(stack, n, i)
	}
	for _, i := range t.items {
		if i.outcome == "" && i.parent == nil && i.kind == rules.AsClaim && !i.onServer && !strings.Contains(i.ownParent, "/") {
			i.end(outcomeRefused, "no pool contains it: add one to `roots` of the mapping, or with --root")
		}
		for p := i.parent; i.outcome == "" && !i.onServer && p != nil; p = p.parent {
			if !p.onServer && p.outcome == outcomeRefused || p.outcome == outcomeSkipped {
				i.end(outcomeRefused, "the pool around it, "+t.messageName(p)+", was refused or skipped")
			}
		}
	}
}

func around(outer, inner *item) bool {
	return outer.block.Bits() <= inner.block.Bits() && outer.block.Contains(inner.block.Addr())
}

// place puts one item below the innermost pool that contains it. The stack has the items that contain the previous item.
func (t *tree) place(stack []*item, n int, i *item) []*item {
	var top *item
	for len(stack) > 0 {
		top = stack[len(stack)-1]
		if top.isPool() {
			break
		}
		if top.onServer && i.onServer {
			return stack // no conflict, for example an address inside another project's block
		}
		if t.meets(top, i) {
			return stack
		}
		stack, top = stack[:len(stack)-1], nil // meets has ended top
	}
	if i.kind == rules.AsAuto {
		i.kind = rules.AsPool
		if !t.holdsMore(n, i) && top != nil {
			i.kind = rules.AsClaim
		}
	}
	if twin := t.twin(stack, i); twin != nil {
		i.parent = twin
		t.desired.compare(i, twin)
		return stack
	}
	if top != nil && i.onServer && !top.onServer && !top.madeByMirror {
		top.conflict(i, i.target()+" on the server is inside it")
	}
	i.parent = top
	if i.spec != nil && i.ownParent != "" {
		for _, p := range stack {
			if p.name == i.ownParent && p.isPool() {
				i.parent = p
			}
		}
	}
	if i.parent != nil {
		i.depth = i.parent.depth + 1
		t.children[i.parent] = append(t.children[i.parent], i)
	} else {
		t.roots = append(t.roots, i)
	}
	return append(stack, i)
}

// meets handles an item inside top, which is a claim. It returns true if the item has an outcome, and false if it has ended top.
func (t *tree) meets(top, i *item) bool {
	switch {
	case top.onServer && top.block == i.block && i.kind == rules.AsClaim && top.kind == rules.AsClaim && top.name == i.name:
		t.desired.compare(i, top)
	case top.onServer:
		i.conflict(top, "the block is held by "+top.target()+" ("+top.where()+")")
	case i.onServer:
		top.conflict(i, i.target()+" on the server is inside it")
		return false
	case t.desired.mapping.OnOverlap == rules.Narrow || t.desired.mapping.OnOverlap == rules.First && i.before(top):
		t.settle(rules.First, top, i, "it contains", top)
		return false
	default:
		t.settle(t.desired.mapping.OnOverlap, top, i, "it overlaps", i)
	}
	return true
}

// holdsMore reports whether the item i contains another new item. n is its index.
func (t *tree) holdsMore(n int, i *item) bool {
	for _, next := range t.items[n+1:] {
		if !around(i, next) {
			return false
		}
		if !next.onServer && next.outcome == "" {
			return true
		}
	}
	return false
}

// twin returns the pool on the server that is equal to a new item. Both have the same block. If the item has a spec, it also has the same name. If
// there is no such pool, twin returns nil.
func (t *tree) twin(stack []*item, i *item) *item {
	if i.onServer || !i.isPool() {
		return nil
	}
	var found *item
	for _, p := range stack {
		if p.onServer && p.isPool() && p.block == i.block && (p.name == i.name || i.spec == nil) {
			found = p
		}
	}
	return found
}

// specDifferences compares the spec in Carve's own export with the spec on the server. It does not compare the block.
func specDifferences(i, is *item) (all []string) {
	var want map[string]any
	if i.spec == nil || json.Unmarshal(i.spec, &want) != nil {
		return nil
	}
	have, err := is.rest()
	if err != nil {
		return []string{err.Error()}
	}
	for name, wanted := range show.Sorted(want) {
		var value any
		if text := have[name]; text != nil && json.Unmarshal(text, &value) != nil || !reflect.DeepEqual(value, wanted) {
			all = append(all, fmt.Sprintf("%s is %s", name, first(string(have[name]), "missing")))
		}
	}
	return all
}

func (w *desired) compare(i, is *item) {
	var all []string
	i.counterpart, is.counterpart = is, i
	if i.name != is.name {
		i.end(outcomeSame, "it is "+is.target())
		return
	}
	differing := func(what string, want, have map[string]string) {
		for key, value := range show.Sorted(want) {
			if have[key] != value && !w.mapping.Unsteady(key, value) {
				all = append(all, fmt.Sprintf("%s %s is %q, not %q", what, key, have[key], value))
			}
		}
	}
	differing("label", i.labelMap(), is.labelMap())
	differing("annotation", i.annotationMap(), is.annotationMap())
	if (i.isPool() || i.kind == string(source.Space)) && i.text() != is.description {
		all = append(all, fmt.Sprintf("the description is %q, not %q", is.description, i.text()))
	}
	all = append(all, specDifferences(i, is)...)
	if len(all) > 0 {
		i.end(outcomeDiffers, strings.Join(all, "; "))
		return
	}
	i.end(outcomeSame, "")
}
