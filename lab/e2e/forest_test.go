package e2e

import (
	"net/netip"
	"slices"
	"strings"
)

// node is a block of an address plan. Its parent is the smallest block that contains it.
type node struct {
	block  netip.Prefix
	parent *node // nil for a root
	depth  int
}

// name returns the name of the block's pool; "" for a nil node.
func (n *node) name() string {
	if n == nil {
		return ""
	}
	return nameOf(n.block.String())
}

// nameOf makes a DNS label from a block or an address. Different blocks get different labels.
func nameOf(text string) string {
	return "n-" + strings.NewReplacer(".", "-", ":", "-", "/", "-").Replace(text)
}

// forest arranges blocks by containment. A node comes before its children. Equal blocks become siblings, because the service accepts only one of
// them. can be created.
func forest(blocks []netip.Prefix) []*node {
	blocks = slices.Clone(blocks)
	slices.SortFunc(blocks, func(a, b netip.Prefix) int {
		if c := a.Addr().Compare(b.Addr()); c != 0 {
			return c
		}
		return a.Bits() - b.Bits()
	})
	var out, open []*node // open is the chain of blocks that contain the current block
	for _, block := range blocks {
		for len(open) > 0 && (open[len(open)-1].block.Bits() >= block.Bits() || !open[len(open)-1].block.Contains(block.Addr())) {
			open = open[:len(open)-1]
		}
		n := &node{block: block, depth: len(open)}
		if len(open) > 0 {
			n.parent = open[len(open)-1]
		}
		out, open = append(out, n), append(open, n)
	}
	return out
}

// around returns the smallest node that contains an address, or nil.
func around(nodes []*node, a netip.Addr) *node {
	var best *node
	for _, n := range nodes {
		if n.block.Contains(a) && (best == nil || n.block.Bits() > best.block.Bits()) {
			best = n
		}
	}
	return best
}
