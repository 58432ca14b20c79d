package lookup

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// FenceKey identifies a version row (a fence): the container and the region. A container is a pool, or a space's address family. A project has
// version rows, too, with the project's id.
type FenceKey struct {
	Region string
	ID     ipam.ID
}

// FenceKeyOf returns the key of a container's version row.
func FenceKeyOf(c storage.Container) FenceKey { return FenceKey{c.Region, c.ID} }

// Fence is a version row: a container or project has one in each region. Mark is the version, and every change replaces it with a new one. Stock
// counts the container's free and cooling blocks.
type Fence struct {
	Mark  ipam.ID
	Stock ipam.Stock
}

// Fences maps keys to the version rows that were read.
type Fences map[FenceKey]Fence

// Read reads the version rows with these keys and adds them to f.
func (f Fences) Read(ctx context.Context, db Querier, keys []FenceKey) error {
	return f.collect(db.Query(ctx, query.Get("fence_list"), fenceArgs(keys)...))
}

// Lock locks containers' version rows until the transaction ends. Until then no other transaction can change the containers.
func Lock(ctx context.Context, db Querier, containers []storage.Container) error {
	b := &pgx.Batch{}
	for _, c := range containers {
		b.Queue(query.Get("fence_lock"), c.Region, c.ID)
	}
	return db.SendBatch(ctx, b).Close()
}

// collect adds the version rows in a result to f. err is the query's error.
func (f Fences) collect(records pgx.Rows, err error) error {
	if err != nil {
		return err
	}
	var at FenceKey
	var mark ipam.ID
	var stored []byte
	_, err = pgx.ForEachRow(records, []any{&at.Region, &at.ID, &mark, &stored}, func() error {
		stock, err := rows.DecodeStock(stored)
		f[at] = Fence{mark, stock}
		return err
	})
	return err
}

func fenceArgs(keys []FenceKey) []any {
	regions, ids := make([]string, len(keys)), make([]ipam.ID, len(keys))
	for i, p := range keys {
		regions[i], ids[i] = p.Region, p.ID
	}
	return []any{regions, ids}
}

// fences reads the version rows with these keys, in one snapshot.
func (r Reader) fences(ctx context.Context, keys []FenceKey) (Fences, error) {
	var found Fences
	err := r.run(ctx, "fence_list", func(q Querier) error {
		found = make(Fences, len(keys))
		return found.Read(ctx, q, keys)
	})
	return found, err
}

// Stocks implements storage.Reader.
func (r Reader) Stocks(ctx context.Context, containers []storage.Container) (map[ipam.ID]ipam.Stock, error) {
	out, keys := make(map[ipam.ID]ipam.Stock, len(containers)), make([]FenceKey, len(containers))
	for i, c := range containers {
		out[c.ID], keys[i] = ipam.Stock{Free: map[int]int64{}}, FenceKeyOf(c)
	}
	found, err := r.fences(ctx, keys)
	if err != nil {
		return nil, err
	}
	for at, f := range found {
		if out[at.ID], err = out[at.ID].Plus(f.Stock); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// RoomIn implements storage.Reader.
func (r Reader) RoomIn(ctx context.Context, ask []storage.RoomQuery) (map[ipam.ID]bool, error) {
	room := make(map[ipam.ID]bool, len(ask))
	err := r.eachWithRoom(ctx, ask, func(at FenceKey) { room[at.ID] = true })
	return room, err
}

// RoomByRegion implements storage.Reader.
func (r Reader) RoomByRegion(ctx context.Context, ask []storage.RoomQuery) (map[string]bool, error) {
	room := make(map[string]bool, len(ask))
	err := r.eachWithRoom(ctx, ask, func(at FenceKey) { room[at.Region] = true })
	return room, err
}

// eachWithRoom calls visit for each container and region that has a free block large enough for the query.
func (r Reader) eachWithRoom(ctx context.Context, ask []storage.RoomQuery, visit func(FenceKey)) error {
	keys := make([]FenceKey, len(ask))
	for i, q := range ask {
		keys[i] = FenceKeyOf(q.Container)
	}
	found, err := r.fences(ctx, keys)
	for i, q := range ask {
		if found[keys[i]].Stock.HasRoom(q.Bits) {
			visit(keys[i])
		}
	}
	return err
}
