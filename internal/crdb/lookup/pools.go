package lookup

import (
	"context"
	"errors"
	"net/netip"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// PoolGet implements storage.Reader.
func (r Reader) PoolGet(ctx context.Context, project storage.ProjectKey, name string) (ipam.Pool, error) {
	return one(ctx, r, "pool_get", rows.Pools.Scan, poolMissing(project, name), rows.ID(project.ID), name)
}

func poolMissing(project storage.ProjectKey, name string) func() error {
	return NotFound("Pool %s/%s was not found.", project.Name, name)
}

// PoolGetByID implements storage.Reader.
func (r Reader) PoolGetByID(ctx context.Context, id ipam.ID) (ipam.Pool, error) {
	return one(ctx, r, "pool_get_by_id", rows.Pools.Scan, NotFound("The pool was not found."), rows.ID(id))
}

// PoolList implements storage.Reader.
func (r Reader) PoolList(ctx context.Context, project storage.ProjectKey, after string, limit int) ([]ipam.Pool, error) {
	return List(ctx, r, "pool_list", rows.Pools.Scan, rows.ID(project.ID), after, limit)
}

// PoolListByLabels implements storage.Reader.
func (r Reader) PoolListByLabels(ctx context.Context, project storage.ProjectKey, labels map[string]string, after string, limit int) ([]ipam.Pool, error) {
	doc, err := rows.Document(labels)
	if err != nil {
		return nil, err
	}
	return List(ctx, r, "pool_list_by_labels", rows.Pools.Scan, rows.ID(project.ID), doc, after, limit)
}

// PoolListOverlapping implements storage.Reader.
func (r Reader) PoolListOverlapping(ctx context.Context, containerID ipam.ID, b netip.Prefix, limit int) ([]ipam.Pool, error) {
	before, err := List(ctx, r, "pool_get_before", rows.Pools.Scan, rows.ID(containerID), rows.Base(b))
	if err != nil {
		return nil, err
	}
	inside, err := List(ctx, r, "pool_list_overlapping", rows.Pools.Scan, rows.ID(containerID), rows.Base(b), rows.Last(b), limit)
	if err != nil {
		return nil, err
	}
	if len(before) == 1 && before[0].Block.Overlaps(b) && (len(inside) == 0 || inside[0].UID != before[0].UID) {
		inside = append(before, inside...)
	}
	return inside[:min(limit, len(inside))], nil
}

// Stocks implements storage.Reader.
func (r Reader) Stocks(ctx context.Context, containers []storage.Container) (map[ipam.ID]ipam.Stock, error) {
	out := make(map[ipam.ID]ipam.Stock, len(containers))
	widths := make(map[ipam.ID]int, len(containers))
	byRegion := map[string][][16]byte{}
	for _, c := range containers {
		out[c.ID] = ipam.Stock{Free: map[int]int64{}}
		widths[c.ID] = c.Block.Addr().BitLen()
		byRegion[c.Region] = append(byRegion[c.Region], rows.ID(c.ID))
	}
	for region, ids := range byRegion {
		err := r.run(ctx, "stock_by_size", func(q Querier) error {
			b := &pgx.Batch{}
			b.Queue(query.Get("stock_by_size"), region, ids)
			b.Queue(query.Get("stock_cooling"), region, ids)
			results := q.SendBatch(ctx, b)
			err := eachSize(results, func(id ipam.ID, hostBits int, n int64) { out[id].Free[widths[id]-hostBits] += n })
			cooling := eachSize(results, func(id ipam.ID, bits int, n int64) {
				stock := out[id]
				if stock.Cooling == nil {
					stock.Cooling = map[int]int64{}
				}
				stock.Cooling[bits] += n
				out[id] = stock
			})
			return errors.Join(err, cooling, results.Close())
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// eachSize reads (container, size, blocks) from the next result of a batch.
func eachSize(results pgx.BatchResults, take func(container ipam.ID, size int, blocks int64)) error {
	answer, err := results.Query()
	if err != nil {
		return err
	}
	var id ipam.ID
	var size int
	var n int64
	_, err = pgx.ForEachRow(answer, []any{(*[16]byte)(&id), &size, &n}, func() error {
		take(id, size, n)
		return nil
	})
	return err
}

// RoomIn implements storage.Reader.
func (r Reader) RoomIn(ctx context.Context, ask []storage.RoomQuery) (map[ipam.ID]bool, error) {
	type group struct {
		ids   [][16]byte
		sizes []int16
	}
	byRegion := map[string]*group{}
	for _, q := range ask {
		g := byRegion[q.Container.Region]
		if g == nil {
			g = &group{}
			byRegion[q.Container.Region] = g
		}
		g.ids = append(g.ids, rows.ID(q.Container.ID))
		g.sizes = append(g.sizes, int16(q.Container.Block.Addr().BitLen()-q.Bits)) //nolint:gosec // 0 to 128
	}
	room := make(map[ipam.ID]bool, len(ask))
	if len(byRegion) > 1 { // what moves between regions is in one of them at each moment
		found, err := r.roomInAll(ctx, ask)
		for _, f := range found {
			room[f.container] = true
		}
		return room, err
	}
	for region, g := range byRegion {
		ids, err := List(ctx, r, "container_room", ScanID, region, g.ids, g.sizes)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			room[id] = true
		}
	}
	return room, nil
}

// ScanID reads an id.
func ScanID(row pgx.CollectableRow) (ipam.ID, error) {
	var id ipam.ID
	err := row.Scan((*[16]byte)(&id))
	return id, err
}

// FreeList implements storage.Reader.
func (r Reader) FreeList(ctx context.Context, c storage.Container, maxBits int, from netip.Prefix, limit int) ([]netip.Prefix, error) {
	width := c.Block.Addr().BitLen()
	var sizes []int16
	var starts [][]byte
	for bits := c.Block.Bits(); bits <= maxBits; bits++ {
		start := []byte{}
		if from.IsValid() {
			if bits < from.Bits() {
				continue
			}
			if bits == from.Bits() {
				start = rows.Base(from)
			}
		}
		sizes, starts = append(sizes, int16(width-bits)), append(starts, start) //nolint:gosec // 0 to 128
	}
	return List(ctx, r, "free_list", rows.Free.Scan, c.Region, rows.ID(c.ID), sizes, starts, limit)
}
