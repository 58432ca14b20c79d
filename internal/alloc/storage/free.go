package storage

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

// FreeReader reads free blocks.
type FreeReader interface {
	// Stocks returns the free and the cooling blocks of each container, by size.
	Stocks(ctx context.Context, containers []Container) (map[ipam.ID]ipam.Stock, error)
	// RoomIn returns the containers with a free block for the requested prefix length. It makes one probe for each, whatever the container's size.
	RoomIn(ctx context.Context, ask []RoomQuery) (map[ipam.ID]bool, error)
	// FreeList returns up to limit free blocks with a prefix length up to maxBits, so that each can hold that length. They are ordered by length,
	// then address, and start after the given block (zero Prefix: from the start).
	FreeList(ctx context.Context, c Container, maxBits int, after netip.Prefix, limit int) ([]netip.Prefix, error)
	// FreeCover returns a pool's free blocks, in all its regions, that contain a block with prefix length bits inside within. These are the free
	// blocks inside within, and the free block around within, ordered by address. Their number is limited by the number of such blocks in within.
	FreeCover(ctx context.Context, pool ipam.Pool, within netip.Prefix, bits int) ([]netip.Prefix, error)
}

// RoomQuery asks whether a container can hold a block of a prefix length.
type RoomQuery struct {
	Container Container
	Bits      int
}
