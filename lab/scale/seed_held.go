package scale

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/lab/postgres"
)

const (
	projectName = "scale"
	poolName    = "pool"
	nearName    = "near"
	page        = 100 // rows in a measured page
	claimRun    = 31  // with the anchor, a block of 32 addresses
)

// nearBlock returns the block of the second pool. It is as large as the measured pool. A search for the blocks that contain an address tries each
// possible size, so its cost depends on the pool's size.
func nearBlock(block netip.Prefix) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{11}), block.Bits())
}

// emptyPool makes the base point of most axes: one project with one empty pool, and 100 claims on a second pool. The reads use the second pool.
func emptyPool(ctx context.Context, w *world, block, near netip.Prefix) (layout, error) {
	if err := w.project(ctx, projectName); err != nil {
		return layout{}, err
	}
	if err := w.pool(ctx, projectName, nearName, near); err != nil {
		return layout{}, err
	}
	if err := w.pool(ctx, projectName, poolName, block); err != nil {
		return layout{}, err
	}
	return nearLayout(block, near), w.batch(ctx, projectName, nearName, nearName, page)
}

func nearLayout(block, beside netip.Prefix) layout {
	own, near := ipam.Ref{Project: projectName, Name: poolName}, ipam.Ref{Project: projectName, Name: nearName}
	return layout{run: claimRun, anchor: true, pick: func(r *rand.Rand) place {
		i := r.IntN(page)
		return place{
			project: projectName, pool: own, bits: block.Addr().BitLen(), tight: own, atMost: block.Bits(),
			claim: heldName(nearName, i), near: near, address: nth(beside, i), afterName: nearName,
		}
	}}
}

// heldName returns the same name as the SQL of padded.
func heldName(prefix string, i int) string { return fmt.Sprintf("%s-%08d", prefix, i) }

// fillPool holds single addresses of the pool: the units in at, or the first n if at is nil.
func fillPool(ctx context.Context, w *world, block netip.Prefix, n int, at []int) (layout, error) {
	base, err := emptyPool(ctx, w, block, nearBlock(block))
	if err != nil || n == 0 {
		return base, err
	}
	units := 1 << (block.Addr().BitLen() - block.Bits())
	free := front(units, n)
	if at != nil {
		free = span{units, func(i int) bool { _, held := slices.BinarySearch(at, i); return held }}.freeBlocks()
	}
	if err := w.hold(ctx, block, n, at, free); err != nil {
		return layout{}, err
	}
	number := func(i int) int {
		if at != nil {
			return at[i]
		}
		return i
	}
	out := base
	own := ipam.Ref{Project: projectName, Name: poolName}
	if n >= page {
		out.pick = func(r *rand.Rand) place {
			p := base.pick(r)
			i, from := r.IntN(n), r.IntN(n-page+1)
			p.claim, p.near, p.address, p.afterName = heldName("held", i), own, nth(block, number(i)), "held"
			if from > 0 {
				p.afterName, p.afterAddress = heldName("held", from-1), nth(block, number(from-1))
			}
			return p
		}
	}
	out.count = []countCheck{
		{"claims", "SELECT count(*) FROM holds WHERE name IS NOT NULL", int64(n + page)},
		{"allocations of claims", "SELECT count(*) FROM holds AS a JOIN pools AS p ON p.id = a.container_id WHERE a.purpose = 'Claim'", int64(n + page)},
		{"addresses in the pool", `SELECT ((SELECT count(*) FROM holds AS a JOIN pools AS p ON p.id = a.container_id WHERE p.name = 'pool')
			+ (SELECT sum(1::INT8 << f.host_bits) FROM free_blocks AS f JOIN pools AS p ON p.id = f.container_id WHERE p.name = 'pool'))::INT8`, int64(units)},
		{"blocks outside of the pool", fmt.Sprintf(`SELECT count(*) FROM holds AS a JOIN pools AS p ON p.id = a.container_id WHERE p.name = 'pool' AND NOT (a.base >= p.base AND a.base <= %s)`,
			address("p.base", fmt.Sprint(units-1))), 0},
	}
	return out, nil
}

// hold copies a claim and its allocation n times, and replaces the pool's free blocks.
func (w *world) hold(ctx context.Context, block netip.Prefix, n int, at []int, free [][2]int) error {
	if err := w.claim(ctx, projectName, poolName, "seed"); err != nil {
		return err
	}
	spots := fmt.Sprintf("(SELECT n, n AS unit FROM generate_series(0, %d) AS n) AS g", n-1)
	if at != nil {
		spots = "spots AS g"
	}
	place, name := address(literal(block), "g.unit"), padded("held-", "g.n")
	copies := func(table, where string, change map[string]string) job {
		return job{table, func(s *seeder) error {
			return firstError(
				func() error { return s.spots(ctx, at) },
				func() error { return s.take(ctx, table, where) },
				func() error { return s.clone(ctx, table, "true", spots, change) },
			)
		}}
	}
	err := w.loadAll(ctx, n,
		copies("holds", "t.name = 'seed'", map[string]string{
			"name": name, "claim_id": uid("claim"), "revision": uid("revision"), "base": place, "id": uid("allocation"),
		}),
	)
	if err != nil {
		return err
	}
	return w.replaceFree(ctx, poolName, block, 1, free)
}

// spots makes a table with the units of the held blocks. It does nothing if the held blocks are the first ones.
func (s *seeder) spots(ctx context.Context, at []int) error {
	if at == nil {
		return nil
	}
	if err := s.run(ctx, "CREATE TEMP TABLE spots (n INT8 NOT NULL, unit INT8 NOT NULL)"); err != nil {
		return err
	}
	_, err := s.CopyFrom(ctx, pgx.Identifier{"spots"}, []string{"n", "unit"}, pgx.CopyFromSlice(len(at), func(i int) ([]any, error) { return []any{i, at[i]}, nil }))
	return err
}

// replaceFree replaces a pool's free blocks. free counts in units, and unit is the number of addresses in each.
func (w *world) replaceFree(ctx context.Context, pool string, block netip.Prefix, unit int, free [][2]int) error {
	s, err := newSeeder(ctx, w.db.DSN(w.name))
	if err != nil {
		return err
	}
	defer s.Close(context.WithoutCancel(ctx))
	var id [16]byte
	if err := s.QueryRow(ctx, "DELETE FROM free_blocks AS f USING pools AS p WHERE p.name = $1 AND f.container_id = p.id RETURNING p.id", pool).Scan(&id); err != nil {
		return err
	}
	_, err = s.CopyFrom(ctx, pgx.Identifier{"free_blocks"}, []string{"region", "container_id", "host_bits", "base"}, pgx.CopyFromSlice(len(free), func(i int) ([]any, error) {
		bits := 0
		for size := free[i][1] * unit; size > 1; size /= 2 {
			bits++
		}
		return []any{postgres.Region, id, int16(bits), nth(block, free[i][0]*unit).AsSlice()}, nil
	}))
	if err != nil {
		return err
	}
	_, err = crdb.RenewEpochs(ctx, w.db.DSN(w.name)) // counts the free blocks in the version row again
	return err
}

// firstError runs the steps until one fails.
func firstError(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// request has the fields that each call of a use case needs, with default values.
var request = usecase.Request{}
