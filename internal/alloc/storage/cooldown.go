package storage

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// CooldownReader reads released blocks in cool-down, which are not free yet.
type CooldownReader interface {
	// CooledDown returns up to limit allocations with a cool-down that ended at or before now, the longest overdue first.
	CooledDown(ctx context.Context, now time.Time, limit int) ([]ipam.Allocation, error)
	// CoolingNext returns for each container when the first block with a requested length ends its cool-down. It leaves out containers without such a
	// block.
	CoolingNext(ctx context.Context, ask []RoomQuery) (map[ipam.ID]time.Time, error)
}
