package lookup

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// CooledDown implements storage.Reader.
func (r Reader) CooledDown(ctx context.Context, now time.Time, limit int) ([]ipam.Allocation, error) {
	return List(ctx, r, "cooldown_over", allocationOfItsPool, r.region, now, limit)
}

// CoolingNext implements storage.Reader. It reads one index entry for each container and length.
func (r Reader) CoolingNext(ctx context.Context, ask []storage.RoomQuery) (map[ipam.ID]time.Time, error) {
	type probes struct {
		ids     []ipam.ID
		lengths []int16
	}
	byRegion := map[string]*probes{}
	for _, q := range ask {
		p := byRegion[q.Container.Region]
		if p == nil {
			p = &probes{}
			byRegion[q.Container.Region] = p
		}
		p.ids = append(p.ids, q.Container.ID)
		p.lengths = append(p.lengths, int16(q.Bits)) //nolint:gosec // 0 to 128
	}
	type first struct {
		container ipam.ID
		at        time.Time
	}
	out := map[ipam.ID]time.Time{}
	for region, p := range byRegion {
		found, err := List(ctx, r, "cooldown_next", func(row pgx.CollectableRow) (f first, err error) {
			err = row.Scan(&f.container, &f.at)
			return f, err
		}, region, p.ids, p.lengths)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if was, ok := out[f.container]; !ok || f.at.Before(was) {
				out[f.container] = f.at.UTC()
			}
		}
	}
	return out, nil
}
