package lookup

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/utilization"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// UtilizationOf implements storage.Reader.
func (r Reader) UtilizationOf(ctx context.Context, pools []ipam.Pool, since time.Time) (map[ipam.ID][]ipam.UsedAt, error) {
	regions, ids := make([]string, len(pools)), make([]ipam.ID, len(pools))
	for i, p := range pools {
		regions[i], ids[i] = p.Region, p.UID
	}
	days, err := List(ctx, r, "utilization_list", ScanUtilization, regions, ids, rows.MonthOf(since))
	all := make(map[ipam.ID][]ipam.UsedAt, len(pools))
	for _, d := range days {
		all[d.PoolID] = append(all[d.PoolID], d.Records...)
	}
	for _, recorded := range all {
		slices.SortStableFunc(recorded, func(a, b ipam.UsedAt) int { return a.At.Compare(b.At) })
	}
	return all, err
}

// ScanUtilization reads the row with a pool's records for a day or month.
func ScanUtilization(row pgx.CollectableRow) (d rows.Day, err error) {
	var points []byte
	if err := row.Scan(&d.PoolID, &d.Begins, &points); err != nil {
		return d, err
	}
	d.Records, err = rows.DecodePoints(nil, d.Begins, points)
	return d, err
}

// UtilizationDue implements utilization.Store.
func (r Reader) UtilizationDue(ctx context.Context, today time.Time, after ipam.ID, limit int) ([]utilization.Due, error) {
	return List(ctx, r, "utilization_due", func(row pgx.CollectableRow) (d utilization.Due, err error) {
		var (
			regions, base, points []byte
			length                int16
			latest                *time.Time
		)
		if err := row.Scan(&d.Pool.UID, &d.Pool.Region, &regions, &base, &length, &latest, &points); err != nil {
			return d, err
		}
		if err := json.Unmarshal(regions, &d.Pool.Spec.Regions); err != nil {
			return d, err
		}
		if d.Pool.Block, err = rows.Block(base, int(length)); err != nil || latest == nil {
			return d, err
		}
		recorded, err := rows.DecodePoints(nil, today, points)
		if len(recorded) > 0 {
			d.Latest, d.Used = *latest, recorded[len(recorded)-1].Used
		}
		return d, err
	}, r.region, today, after, limit)
}
