package rows

import (
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

type freeRow struct {
	base     []byte
	hostBits int16
}

// Free maps a container's free blocks to rows, for reading.
var Free = kindOf[netip.Prefix](table[freeRow]{
	plain("host_bits", func(r *freeRow) *int16 { return &r.hostBits }),
	raw("base", func(r *freeRow) *[]byte { return &r.base }),
}, nil, func(r *freeRow) (netip.Prefix, error) {
	return Block(r.base, len(r.base)*8-int(r.hostBits))
})

// FreeBlock is a free block in a container.
type FreeBlock struct {
	Container ipam.ID
	Block     netip.Prefix
}

type freeBlockRow struct {
	container ipam.ID
	freeRow
}

// FreeBlocks maps free blocks to rows, for writing.
var FreeBlocks = kindOf(table[freeBlockRow]{
	id("container_id", func(r *freeBlockRow) *ipam.ID { return &r.container }),
	plain("host_bits", func(r *freeBlockRow) *int16 { return &r.hostBits }),
	raw("base", func(r *freeBlockRow) *[]byte { return &r.base }),
}, func(f FreeBlock, _ *documents) freeBlockRow {
	return freeBlockRow{f.Container, freeRow{Base(f.Block), HostBits(f.Block)}}
}, nil)

// FenceMove updates a container's version row (fence). It replaces the version Was with Mark, and writes the new stock.
type FenceMove struct {
	ID, Was, Mark ipam.ID
	Stock         []byte // encoded by EncodeStock
}

// FenceMoves maps each FenceMove to arguments.
var FenceMoves = kindOf(table[FenceMove]{
	id("id", func(r *FenceMove) *ipam.ID { return &r.ID }),
	id("mark", func(r *FenceMove) *ipam.ID { return &r.Was }),
	id("next_mark", func(r *FenceMove) *ipam.ID { return &r.Mark }),
	raw("stock", func(r *FenceMove) *[]byte { return &r.Stock }),
}, asItIs[FenceMove], nil)
