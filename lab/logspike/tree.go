package logspike

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
)

const (
	maxFree  = 512 // free blocks in a page before it is split
	slotBits = 8   // a split page has up to 2^slotBits children
)

// tree contains the free blocks of a pool. Its nodes are pages, and nodes that are not in memory are loaded on demand. Only one goroutine uses it.
type tree struct {
	root    *node
	load    func(context.Context, []*item) error // loads the children of these items
	counts  [129]int64                           // free blocks by length
	garbage []netip.Prefix                       // blocks of stored pages that the next snapshot replaces
	clock   int64                                // number of the current group, for eviction
	loaded  int                                  // nodes in memory
	dirty   int                                  // dirty nodes
}

// node covers an aligned block. Its items are disjoint and sorted by address. A split node has a child for each slot that is partly free.
type node struct {
	block netip.Prefix
	items []item
	split bool
	dirty bool
	used  int64 // value of the tree's clock at the last use
}

// item is a free block, or a reference to the child of a slot.
type item struct {
	block   netip.Prefix
	largest int // shortest prefix length of a free block in it
	child   bool
	node    *node // the child; nil if it is not in memory
	version int64 // number of the snapshot that wrote the child; 0 means never
}

// errFree reports that a block is free and cannot be released.
var errFree = errors.New("the block is free")

func newTree(block netip.Prefix, load func(context.Context, []*item) error) *tree {
	t := &tree{root: &node{block: block}, load: load, loaded: 1}
	t.add(t.root, block)
	return t
}

func free(block netip.Prefix) item { return item{block: block, largest: block.Bits()} }

func (n *node) slot() int { return n.block.Bits() + slotBits }

// find returns the index of the first item whose address is at least addr.
func (n *node) find(addr netip.Addr) int {
	low, high := 0, len(n.items)
	for low < high {
		if middle := int(uint(low+high) >> 1); n.items[middle].block.Addr().Less(addr) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// covering returns the index of the item whose block contains b, or -1.
func (n *node) covering(b netip.Prefix) int {
	i := n.find(b.Addr())
	if i == len(n.items) || n.items[i].block.Addr() != b.Addr() {
		i--
	}
	if i >= 0 && freespace.Contains(n.items[i].block, b) {
		return i
	}
	return -1
}

// change marks a node as dirty.
func (t *tree) change(n *node) {
	if !n.dirty {
		n.dirty = true
		t.dirty++
	}
}

func (t *tree) add(n *node, b netip.Prefix) {
	n.items = slices.Insert(n.items, n.find(b.Addr()), free(b))
	t.counts[b.Bits()]++
	t.change(n)
}

func (t *tree) drop(n *node, i int) {
	t.counts[n.items[i].block.Bits()]--
	n.items = slices.Delete(n.items, i, i+1)
	t.change(n)
}

// open returns the child of an item and loads it if necessary.
func (t *tree) open(ctx context.Context, it *item) (*node, error) {
	if it.node == nil {
		if err := t.load(ctx, []*item{it}); err != nil {
			return nil, err
		}
	}
	it.node.used = t.clock
	return it.node, nil
}

// takeFirst removes the first block of the given length. If no free block is large enough, it returns an invalid block.
func (t *tree) takeFirst(ctx context.Context, n *node, bits int) (netip.Prefix, error) {
	for i := range n.items {
		it := &n.items[i]
		if it.largest > bits {
			continue
		}
		if !it.child {
			b := netip.PrefixFrom(it.block.Addr(), bits)
			t.carve(n, i, b)
			return b, nil
		}
		child, err := t.open(ctx, it)
		if err != nil {
			return netip.Prefix{}, err
		}
		b, err := t.takeFirst(ctx, child, bits)
		if err == nil {
			t.settle(n, i)
		}
		return b, err
	}
	return netip.Prefix{}, nil
}

// take removes the block b. If b is not completely free, it returns false.
func (t *tree) take(ctx context.Context, n *node, b netip.Prefix) (bool, error) {
	i := n.covering(b)
	if i < 0 {
		return false, nil
	}
	if !n.items[i].child {
		t.carve(n, i, b)
		return true, nil
	}
	child, err := t.open(ctx, &n.items[i])
	if err != nil {
		return false, err
	}
	taken, err := t.take(ctx, child, b)
	if taken {
		t.settle(n, i)
	}
	return taken, err
}

// carve replaces the free block at index i with the rest around b.
func (t *tree) carve(n *node, i int, b netip.Prefix) {
	from := n.items[i].block
	t.drop(n, i)
	for _, rest := range freespace.Carve(from, b) {
		t.put(n, rest)
	}
}

// give returns the held block b to the free blocks and merges it with its buddies.
func (t *tree) give(ctx context.Context, n *node, b netip.Prefix) error {
	i := n.covering(b)
	if i >= 0 && !n.items[i].child {
		return fmt.Errorf("%s: %w", b, errFree)
	}
	if i < 0 {
		for b.Bits() > n.block.Bits() {
			buddy := freespace.Buddy(b)
			j := n.find(buddy.Addr())
			if j == len(n.items) || n.items[j].child || n.items[j].block != buddy {
				break
			}
			t.drop(n, j)
			b = freespace.Parent(b)
		}
		t.put(n, b)
		return nil
	}
	child, err := t.open(ctx, &n.items[i])
	if err != nil {
		return err
	}
	if err := t.give(ctx, child, b); err != nil {
		return err
	}
	if len(child.items) != 1 || child.items[0].child || child.items[0].block != child.block {
		t.settle(n, i)
		return nil
	}
	t.counts[child.block.Bits()]-- // the whole slot is free, so it belongs to this node
	t.remove(n, i)
	return t.give(ctx, n, child.block)
}

// put adds a free block that has no free buddy to the node, or to a new child of it.
func (t *tree) put(n *node, b netip.Prefix) {
	if !n.split || b.Bits() <= n.slot() {
		t.add(n, b)
		t.splitIfLarge(n)
		return
	}
	if i := n.covering(b); i >= 0 {
		t.put(n.items[i].node, b) // a carve adds several blocks to one slot
		t.settle(n, i)
		return
	}
	slot := freespace.Ancestor(b, n.slot())
	child := &node{block: slot, used: t.clock}
	t.loaded++
	t.add(child, b)
	n.items = slices.Insert(n.items, n.find(slot.Addr()), item{block: slot, child: true, node: child, largest: b.Bits()})
	t.change(n)
}

// splitIfLarge moves the small free blocks of a large node to children.
func (t *tree) splitIfLarge(n *node) {
	if n.split || len(n.items) <= maxFree || n.slot() >= freespace.Width(n.block) {
		return
	}
	all := n.items
	n.items, n.split = make([]item, 0, 1<<slotBits), true
	for _, it := range all {
		t.counts[it.block.Bits()]-- // put counts it again
		t.put(n, it.block)
	}
}

// settle updates the reference at index i after a change of the child.
func (t *tree) settle(n *node, i int) {
	t.change(n)
	it := &n.items[i]
	if len(it.node.items) == 0 {
		t.remove(n, i)
		return
	}
	it.largest = it.node.largest()
}

// remove removes the child at index i.
func (t *tree) remove(n *node, i int) {
	if n.items[i].version > 0 {
		t.garbage = append(t.garbage, n.items[i].block)
	}
	if n.items[i].node.dirty {
		t.dirty--
	}
	n.items = slices.Delete(n.items, i, i+1)
	t.loaded--
	t.change(n)
	n.split = slices.ContainsFunc(n.items, func(it item) bool { return it.child })
}

func (n *node) largest() int {
	least := 129
	for i := range n.items {
		least = min(least, n.items[i].largest)
	}
	return least
}

// prefetch loads the pages of several blocks, with one query for each level of the tree.
func (t *tree) prefetch(ctx context.Context, blocks []netip.Prefix) error {
	for {
		missing := map[*item]bool{}
		for _, b := range blocks {
			for n := t.root; n != nil; {
				i := n.covering(b)
				if i < 0 || !n.items[i].child {
					break
				}
				it := &n.items[i]
				if n = it.node; n == nil {
					missing[it] = true
				}
			}
		}
		if len(missing) == 0 {
			return nil
		}
		if err := t.load(ctx, slices.Collect(maps.Keys(missing))); err != nil {
			return err
		}
	}
}

// evict removes clean pages from memory that were last used before the given clock.
func (t *tree) evict(n *node, before int64) (kept bool) {
	for i := range n.items {
		it := &n.items[i]
		if it.node == nil {
			continue
		}
		if t.evict(it.node, before) || it.node.dirty || it.node.used >= before {
			kept = true
			continue
		}
		it.node = nil
		t.loaded--
	}
	return kept
}
