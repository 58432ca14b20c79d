package storage

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

// FreeReader reads what is free.
type FreeReader interface {
	// Stocks answers what is free, and what is cooling down, in each container, by size.
	Stocks(ctx context.Context, containers []Container) (map[ipam.ID]ipam.Stock, error)
	// RoomIn answers which containers have a free block that can hold the prefix length asked of each: one probe each,
	// whatever the containers hold.
	RoomIn(ctx context.Context, ask []RoomQuery) (map[ipam.ID]bool, error)
	// FreeList answers up to limit free blocks that are at most maxBits long (so each can hold that length), in order
	// of length, then address, after the given block (the zero Prefix: from the start).
	FreeList(ctx context.Context, c Container, maxBits int, after netip.Prefix, limit int) ([]netip.Prefix, error)
	// FreeCover answers the free blocks of a pool, in any of its regions, that hold a block of a length in within, in order of address: those that lie in within, and
	// that which holds all of it. There are as many as there are such blocks in within, at most.
	FreeCover(ctx context.Context, pool ipam.Pool, within netip.Prefix, bits int) ([]netip.Prefix, error)
}

// RoomQuery asks whether a container can hold a block of a prefix length.
type RoomQuery struct {
	Container Container
	Bits      int
}
