package carve

import (
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Carver plans the changes to one container in a transaction. It first releases blocks. Then it grants requests for blocks, one after another.
// Finally it returns the change to the container's free rows. A request can get a block that the same transaction releases.
type Carver struct {
	container      storage.Container
	set            *freespace.FreeSet
	mergeRemove    []netip.Prefix // free rows that were merged into larger blocks
	mergeInsert    []netip.Prefix // the merged, larger blocks
	releasedBlocks []netip.Prefix
}

// Reads returns the rows that a Carver needs for these releases and requests.
func Reads(c storage.Container, release []netip.Prefix, wishes []freespace.BlockRequest) freespace.Reads {
	r := freespace.ReadsFor(c.Block, wishes)
	r.Keys = append(r.Keys, freespace.MergeCandidates(release, c.Block)...)
	slices.SortFunc(r.Keys, freespace.Compare)
	r.Keys = slices.Compact(r.Keys)
	return r
}

// NewCarver makes a Carver from the free rows that Reads selects.
func NewCarver(c storage.Container, release []netip.Prefix, free []netip.Prefix) (*Carver, error) {
	k := &Carver{container: c, releasedBlocks: release}
	if len(release) > 0 {
		k.mergeRemove, k.mergeInsert = freespace.Merge(release, free, c.Block)
		free = slices.Concat(Subtract(free, k.mergeRemove), k.mergeInsert)
	}
	set, err := freespace.NewFreeSet(c.Block, free)
	if err != nil {
		// Rows that overlap, or that lie outside the container, could grant an address twice.
		return nil, ipam.Errorf(ipam.CodeInternal, "The free blocks of %s are inconsistent; nothing was changed.", c.Pool).WithCause(err)
	}
	k.set = set
	return k, nil
}

// Take grants a request for a block. It returns false if no free block satisfies the request.
func (k *Carver) Take(w freespace.BlockRequest) (netip.Prefix, bool) { return k.set.Take(w) }

// Change returns the transaction's change to the container's free rows. It deletes only rows that the transaction has read. A block that the
// transaction both makes and uses up is in neither list.
func (k *Carver) Change() storage.FreeChange {
	remove, insert := k.set.Changes()
	return storage.FreeChange{
		Container: k.container,
		Delete:    slices.Concat(k.mergeRemove, Subtract(remove, k.mergeInsert)),
		Insert:    slices.Concat(Subtract(k.mergeInsert, remove), insert),
	}
}

// Subtract returns the blocks of a that are not in b.
func Subtract(a, b []netip.Prefix) []netip.Prefix {
	if len(b) == 0 {
		return a
	}
	out := make([]netip.Prefix, 0, len(a))
	drop := make(map[netip.Prefix]bool, len(b))
	for _, p := range b {
		drop[p] = true
	}
	for _, p := range a {
		if !drop[p] {
			out = append(out, p)
		}
	}
	return out
}

// RequestFor makes the block request for a claim or child pool under a pool's policy. random is fixed before the transaction. After a conflict,
// BestFit starts at a random position, so that the processes in the conflict choose different blocks.
func RequestFor(exact netip.Prefix, bits int, strategy ipam.Strategy, random ipam.ID, container netip.Prefix, attempt int) freespace.BlockRequest {
	w := freespace.BlockRequest{Exact: exact, Bits: bits, Rand: random}
	switch strategy {
	case ipam.FirstFit:
		w.Strategy = freespace.FirstFit
	case ipam.Random:
		w.Strategy = freespace.Random
	case ipam.Sparse:
		w.Strategy = freespace.Sparse
	case ipam.BestFit:
		w.Strategy = freespace.BestFit
		if attempt > 0 && !exact.IsValid() && bits >= container.Bits() && bits <= container.Addr().BitLen() {
			w.Start = freespace.Sub(container, bits, random).Addr()
		}
	}
	return w
}
