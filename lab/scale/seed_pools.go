package scale

import (
	"context"
	"math/rand/v2"
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

const (
	parentName = "parent"
	childName  = "child"
	childBits  = 28
	childSize  = 1 << (32 - childBits)
)

var parentBlock = netip.MustParsePrefix("10.0.0.0/8")

// children makes n empty pools, carved from one pool. Operations go to random children. Reads of held blocks use the second pool, as on all axes.
func children(n int) func(context.Context, *world) (layout, error) {
	return func(ctx context.Context, w *world) (layout, error) {
		err := firstError(
			func() error { return w.project(ctx, projectName) },
			func() error { return w.pool(ctx, projectName, nearName, nearBlock(parentBlock)) },
			func() error { return w.batch(ctx, projectName, nearName, nearName, page) },
			func() error { return w.pool(ctx, projectName, parentName, parentBlock) },
			func() error { return w.child(ctx, heldName(childName, 0)) },
			func() error { return w.cloneChildren(ctx, n) },
		)
		if err != nil {
			return layout{}, err
		}
		near := nearLayout(parentBlock, nearBlock(parentBlock))
		return layout{run: 1, pick: func(r *rand.Rand) place {
			p := near.pick(r)
			p.pool, p.tight = ipam.Ref{Project: projectName, Name: heldName(childName, r.IntN(n))}, p.near
			return p
		}, count: []countCheck{
			{"pools", "SELECT count(*) FROM pools WHERE parent_name <> ''", int64(n)},
			{"holds of pools", "SELECT count(*) FROM holds WHERE purpose = 'ChildPool'", int64(n)},
			{"free addresses of the pools", "SELECT sum(1::INT8 << f.host_bits)::INT8 FROM free_blocks AS f JOIN pools AS p ON p.id = f.container_id WHERE p.parent_name <> ''", int64(n) * childSize},
		}}, nil
	}
}

func (w *world) child(ctx context.Context, name string) error {
	length, bits := childBits, 32
	_, err := w.service.CreatePool(caller(ctx, "createPool", name), projectName, ipam.Pool{
		Metadata: ipam.Metadata{Name: name},
		Spec: ipam.PoolSpec{
			Parent: ipam.Ref{Project: projectName, Name: parentName}, PrefixLength: &length, Visibility: ipam.VisibilityConsumer,
			Allocation: ipam.Allocating{Strategy: ipam.BestFit, DefaultPrefixLength: &bits},
		},
	}, request)
	return err
}

func (w *world) cloneChildren(ctx context.Context, n int) error {
	if n < 2 {
		return nil
	}
	from, name, base := series(1, n-1), padded(childName+"-", "g.n"), address("t.base", "g.n * 16")
	copies := func(table, where string, change map[string]string) job {
		return job{table, func(s *seeder) error { return s.clone(ctx, table, where, from, change) }}
	}
	err := w.loadAll(ctx, n,
		copies("holds", "t.purpose = 'ChildPool'", map[string]string{
			"base": base, "id": uid("hold"), "revision": uid("revision"), "doc": "replace(t.doc, 'child-00000000', " + name + ")",
		}),
		copies("pools", "t.name = 'child-00000000'", map[string]string{"id": uid("pool"), "name": name, "base": base}),
		copies("free_blocks", "t.container_id = (SELECT id FROM pools WHERE name = 'child-00000000')", map[string]string{"container_id": uid("pool"), "base": base}),
	)
	if err != nil {
		return err
	}
	return w.replaceFree(ctx, parentName, parentBlock, childSize, front(1<<(childBits-parentBlock.Bits()), n))
}
