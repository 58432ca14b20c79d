package storage

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// CooldownReader reads released blocks in cool-down. Such blocks are not free yet.
type CooldownReader interface {
	// CooledDown returns up to limit allocations with a cool-down that ended at now or before, in the order in which the cool-downs ended.
	CooledDown(ctx context.Context, now time.Time, limit int) ([]ipam.Allocation, error)
	// CoolingNext returns, for each container, the time when the next block with the requested length ends its cool-down. It omits a container
	// without such a block.
	CoolingNext(ctx context.Context, ask []RoomQuery) (map[ipam.ID]time.Time, error)
}
