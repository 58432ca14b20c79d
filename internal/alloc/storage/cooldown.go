package storage

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// CooldownReader reads what is cooling down: released blocks that nobody can have yet.
type CooldownReader interface {
	// CooledDown answers up to limit allocations whose cool-down ended at or before now, the longest past first.
	CooledDown(ctx context.Context, now time.Time, limit int) ([]ipam.Allocation, error)
	// CoolingNext answers, for each container, when the first of its blocks of the lengths asked for will have cooled down; containers where there is none
	// are left out.
	CoolingNext(ctx context.Context, ask []RoomQuery) (map[ipam.ID]time.Time, error)
}
