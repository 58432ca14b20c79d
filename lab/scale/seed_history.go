package scale

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// pastOf is the length of the history.
const pastOf = 30 * 24 * time.Hour

// past makes n events in the project's audit trail, and n ended allocations, which the history of addresses shows. An address has up to ten of them.
func past(block netip.Prefix, n int) func(context.Context, *world) (layout, error) {
	return func(ctx context.Context, w *world) (layout, error) {
		base, err := emptyPool(ctx, w, block, nearBlock(block))
		if err != nil || n == 0 {
			return base, err
		}
		young := ipam.FirstTimeID(time.Now().Add(-12 * time.Hour)) // the measurement's own events are younger
		base.count = []countCheck{
			{"events", "SELECT coalesce(sum(count), 0) FROM audit_events WHERE id < '" + young.String() + "'", int64(n) / 2 * 2},
			{"holds that ended", "SELECT count(*) FROM history WHERE until < now() - INTERVAL '12 hours'", int64(n)},
		}
		return base, w.clonePast(ctx, block, n)
	}
}

func (w *world) clonePast(ctx context.Context, block netip.Prefix, n int) error {
	if err := w.claim(ctx, projectName, poolName, "seed"); err != nil {
		return err
	}
	if err := w.service.DeleteClaim(caller(ctx, "deleteClaim", "seed"), projectName, "seed", request); err != nil {
		return err
	}
	begin := time.Now().Add(-pastOf).UnixMilli()
	// An event's id begins with its time in milliseconds (UUID version 7, RFC 9562). So the trail sorts by time.
	at := fmt.Sprintf("(%d + g.n * %d / %d)", begin, (pastOf - 24*time.Hour).Milliseconds(), n)
	spread := min(n, 1_000_000, 1<<(32-block.Bits()))
	slot := (pastOf - 24*time.Hour).Milliseconds() / int64(n/spread+1)
	until := fmt.Sprintf("to_timestamp((%d + (g.n / %d + 1) * %d) / 1000.0)", begin, spread, slot)
	return w.loadAll(ctx, n,
		job{"audit_events", func(s *seeder) error { // copies the last two rows: a creation and a release
			return s.clone(ctx, "audit_events", "t.id IN (SELECT id FROM audit_events ORDER BY id DESC LIMIT 2)", series(0, n/2-1), map[string]string{
				"id": "(lpad(to_hex(" + at + "), 12, '0') || '7' || substr(md5(g.n::TEXT || t.id::TEXT), 1, 19))::UUID",
			})
		}},
		job{"history", func(s *seeder) error {
			return s.clone(ctx, "history", "true", series(0, n-1), map[string]string{
				"base": address(literal(block), fmt.Sprintf("g.n %% %d", spread)),
				"id":   uid("ended"), "allocation_id": uid("allocation"), "until": until, "since": until + " - INTERVAL '1 hour'",
			})
		}},
	)
}
