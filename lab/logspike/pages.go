package logspike

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
)

// pageKey identifies a stored page. version is the number of the snapshot that wrote it.
type pageKey struct {
	block   netip.Prefix
	version int64
}

// page is a stored page. The root page has the invalid block as its key.
type page struct {
	pageKey
	body []byte
}

// rootPage is the content of a root page: the root node, the sequence number of the last log row in it, and the figures of the pool.
type rootPage struct {
	version int64
	seq     int64
	tree    *tree
	garbage []netip.Prefix // blocks whose pages this snapshot replaced; the next snapshot deletes them
}

// snapshot encodes the dirty pages with a new version and marks them as clean. The last page is the root page. garbage lists the blocks whose pages
// the snapshot replaces.
func (t *tree) snapshot(version, seq int64) (pages []page, garbage []netip.Prefix) {
	t.clean(t.root, version, &pages)
	garbage, t.garbage = t.garbage, nil
	b := appendBlock([]byte{byte(t.root.block.Addr().BitLen() / 8)}, t.root.block) //nolint:gosec // G115: 4 or 16
	b = binary.AppendVarint(b, seq)
	for _, n := range &t.counts {
		b = binary.AppendVarint(b, n)
	}
	b = binary.AppendUvarint(b, uint64(len(garbage)))
	for _, g := range garbage {
		b = appendBlock(b, g)
	}
	return append(pages, page{pageKey: pageKey{version: version}, body: t.root.append(b)}), garbage
}

// clean appends the dirty descendants of a dirty node, and marks the node as clean.
func (t *tree) clean(n *node, version int64, pages *[]page) {
	for i := range n.items {
		it := &n.items[i]
		if it.node == nil || !it.node.dirty {
			continue
		}
		t.clean(it.node, version, pages)
		if it.version > 0 {
			t.garbage = append(t.garbage, it.block)
		}
		it.version = version
		*pages = append(*pages, page{pageKey{it.block, version}, it.node.append(nil)})
	}
	if n.dirty {
		n.dirty = false
		t.dirty--
	}
}

// append encodes a node.
func (n *node) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(n.items)))
	for _, it := range n.items {
		b = appendBlock(b, it.block)
		if !it.child {
			b = append(b, 0)
			continue
		}
		b = append(b, 1, byte(it.largest)) //nolint:gosec // G115: a length is at most 128
		b = binary.AppendVarint(b, it.version)
	}
	return b
}

// appendBlock encodes a block as its address and its length. The order of the texts is the order of the blocks.
func appendBlock(b []byte, p netip.Prefix) []byte {
	return append(append(b, p.Addr().AsSlice()...), byte(p.Bits())) //nolint:gosec // G115: a length is at most 128
}

var errCorrupt = errors.New("a stored page is not readable")

// parseBlock decodes the result of appendBlock.
func parseBlock(b []byte) (netip.Prefix, error) {
	addr, ok := netip.AddrFromSlice(b[:max(len(b)-1, 0)])
	if !ok {
		return netip.Prefix{}, fmt.Errorf("block %x: %w", b, errCorrupt)
	}
	return netip.PrefixFrom(addr, int(b[len(b)-1])), nil
}

// reader decodes a page. After the first error, all results are zero.
type reader struct {
	b     []byte
	width int // bytes of an address
	bad   bool
}

func (r *reader) bytes(n int) []byte {
	if r.bad = r.bad || len(r.b) < n; r.bad {
		return make([]byte, n)
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) number() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) size() int {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > uint64(len(r.b)) {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return int(v) //nolint:gosec // at most len(r.b)
}

func (r *reader) block() netip.Prefix {
	p, err := parseBlock(r.bytes(r.width + 1))
	r.bad = r.bad || err != nil
	return p
}

func (r *reader) node(block netip.Prefix) *node {
	n := &node{block: block, items: make([]item, r.size())}
	for i := range n.items {
		it := free(r.block())
		if r.bytes(1)[0] == 1 {
			it.child, it.largest, it.version = true, int(r.bytes(1)[0]), r.number()
			n.split = true
		}
		n.items[i] = it
	}
	return n
}

func decodeNode(block netip.Prefix, body []byte) (*node, error) {
	r := &reader{b: body, width: len(block.Addr().AsSlice())}
	n := r.node(block)
	if r.bad {
		return nil, fmt.Errorf("%s: %w", block, errCorrupt)
	}
	return n, nil
}

// decodeRoot decodes a root page. Its first byte is the number of bytes of an address.
func decodeRoot(body []byte) (rootPage, error) {
	r := &reader{b: body}
	r.width = int(r.bytes(1)[0])
	block := r.block()
	root := rootPage{seq: r.number(), tree: &tree{loaded: 1}}
	for i := range root.tree.counts {
		root.tree.counts[i] = r.number()
	}
	root.garbage = make([]netip.Prefix, r.size())
	for i := range root.garbage {
		root.garbage[i] = r.block()
	}
	root.tree.root = r.node(block)
	if r.bad {
		return rootPage{}, errCorrupt
	}
	return root, nil
}
