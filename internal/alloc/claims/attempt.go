package claims

import (
	"context"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/attach"
	"github.com/carve-ipam/carve/internal/alloc/carve"
	"github.com/carve-ipam/carve/internal/alloc/quota"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// attempt is one attempt of a transaction that serves the orders of a batch. A pool is opened, once, when an order comes to it. All orders count
// in the quota shard of the first pool.
type attempt struct {
	tx     storage.Tx
	batch  *batch
	region string // of this server
	atOnce bool   // of what is remembered: it serves all, or finds no room for any
	whole  bool   // every row that may decide is read, and not few of them

	opened map[ipam.ID]*source // by what stands for the pool in the region that it is drawn from
	drawn  []*source           // those that are drawn from, in the order in which they were opened
	scoped map[ipam.ID]*source // pools that are carved in this transaction, by scope
	ledger *quota.Ledger       // since the first pool was opened

	bound []ipam.Claim // by order
	from  []*source    // by order; nil: it has no block

	refused []error // of a group: by order, why it is not served

	users attach.Users // of those that are made
}

func newAttempt(tx storage.Tx, b *batch, region string) *attempt {
	return &attempt{
		tx: tx, batch: b, region: region, whole: !b.together,
		opened: map[ipam.ID]*source{},
		bound:  make([]ipam.Claim, len(b.orders)), from: make([]*source, len(b.orders)),
	}
}

// source is a pool that orders are served from: as it is in the transaction, with the rows that any of them might need.
type source struct {
	pool    ipam.Pool
	granted map[string]bool     // to these projects, by name
	epochs  map[ipam.ID]ipam.ID // of the classes that the projects use
	missing bool                // there is no such pool any more
	stock   *ipam.Stock         // what is left of it, if that is known
	away    bool                // it is not served in the region where it was to be drawn from: whoever looks again finds it at home
	few     bool                // of its rows that a Random wish may take only some were read

	carver *carve.Carver // nil: no order may draw from the pool
	taken  []granted     // so far
	wishes map[int]space.Wish
	draws  map[*choice]*drawing   // of the choices that came to it
	scopes map[ipam.ID]space.Wish // for pools to be carved from this one, by scope

	made *ipam.Allocation // a pool that is carved in this transaction: its hold on its parent
}

// granted is a wish that was granted.
type granted struct {
	wish  space.Wish
	block netip.Prefix
}

// open reads a pool, once, for all orders that may draw on it. This is where every claim and every release meets its pool: reading, the fence,
// the policy as it is now, and the free rows that decide.
func (a *attempt) open(ctx context.Context, known ipam.Pool) (*source, error) {
	c := storage.PoolContainer(known)
	if src := a.opened[c.Lock()]; src != nil {
		return src, nil
	}
	w := a.wishes(known)
	rows, few := a.reads(c, w.all)
	facts, err := a.tx.GroupRead(ctx, c, rows, a.query(known))
	if ipam.IsCode(err, ipam.CodeNotFound) {
		a.opened[c.Lock()] = &source{pool: known, missing: true}
		return a.opened[c.Lock()], nil
	}
	if err != nil {
		return nil, err
	}
	pool, free := facts.Pool, facts.Free
	src := &source{pool: pool, granted: facts.Granted, epochs: facts.Epochs, stock: facts.Stock, away: !pool.Serves(pool.Place())}
	if a.opened[c.Lock()] = src; src.away {
		return src, nil
	}
	if err := regions.Fence(facts); err != nil {
		return nil, err
	}
	if a.ledger == nil {
		a.ledger = quota.NewLedger(a.tx, facts.Quotas)
		a.ledger.OneRequest = a.batch.together
	}
	if !a.serves(src) {
		return src, nil
	}
	if !pool.Spec.Allocation.Equal(known.Spec.Allocation) { // other wishes, which other rows decide: read those
		w = a.wishes(pool)
		rows, few = a.reads(c, w.all)
		if free, err = a.tx.FreeRead(ctx, c, rows); err != nil {
			return nil, err
		}
	}
	src.few = few && len(free) >= space.Few // or else those are all
	if src.carver, err = carve.NewCarver(c, a.batch.released(c), free); err != nil {
		return nil, err
	}
	src.wishes, src.scopes = w.byPlace()
	a.drawn = append(a.drawn, src)
	return src, nil
}

// serves reports whether a pool that was opened is of use: blocks are given back to it, or any of the choices that came to it may still draw
// from it, or carve a scope's pool from it.
func (a *attempt) serves(src *source) bool {
	return slices.ContainsFunc(a.batch.orders, func(o *order) bool { return !o.binds() && o.claim.PoolID == src.pool.UID }) ||
		slices.ContainsFunc(a.batch.byPool[src.pool.UID], func(c *choice) bool { return a.mayDraw(c, src) })
}

// mayDraw reports whether a choice may draw from a pool, or carve its scope's pool from it.
func (a *attempt) mayDraw(c *choice, src *source) bool {
	if c.First != nil {
		return c.First.MayCarve(src.pool)
	}
	key := a.batch.orders[c.items[0]].key
	return c.Ask.MayDraw(key, src.pool, src.granted[key.Name])
}

// query asks for the quotas of the orders' projects, whether the pool is granted to those that it is not of, and for the epochs of remembered classes.
func (a *attempt) query(pool ipam.Pool) storage.GroupQuery {
	q := storage.GroupQuery{Pool: pool, Shard: quota.ShardOf(pool.UID), Remember: !a.batch.together && !a.batch.dryRun()}
	if a.ledger == nil {
		q.Projects = a.batch.projects()
	}
	for _, c := range a.batch.byPool[pool.UID] {
		o := a.batch.orders[c.items[0]]
		if c.Ask.Class == nil && o.key.ID != pool.ProjectID && !slices.Contains(q.Consumers, o.key.Name) {
			q.Consumers = append(q.Consumers, o.key.Name)
		}
		if c.Ask.Class != nil && o.remembered && !slices.Contains(q.Classes, o.key) {
			q.Classes = append(q.Classes, o.key)
		}
	}
	return q
}

// reads names the rows of a container that the wishes are granted from; few when there may be more for those of any place.
func (a *attempt) reads(c storage.Container, wishes []space.Wish) (rows space.Reads, few bool) {
	if !a.whole {
		return space.FewFor(c.Block, wishes)
	}
	return carve.Reads(c, a.batch.released(c), wishes), false
}

// wanted is what is asked of a pool: all[n] is the wish of order owners[n]; after those come the pools of the scopes.
type wanted struct {
	all    []space.Wish
	owners []int
	scopes []ipam.ID
}

// wishes is what the orders want of a pool. Those that it can never serve want nothing of it.
func (a *attempt) wishes(pool ipam.Pool) (w wanted) {
	for _, c := range a.batch.byPool[pool.UID] {
		if c.First != nil {
			continue
		}
		want, err := c.Ask.Wanted(pool)
		if err != nil {
			continue
		}
		w.all, w.owners = slices.Grow(w.all, len(c.items)), slices.Grow(w.owners, len(c.items))
		for _, i := range c.items {
			w.all, w.owners = append(w.all, want.Wish(pool, a.batch.orders[i].random, a.tx.Attempt())), append(w.owners, i)
		}
	}
	for _, c := range a.batch.byPool[pool.UID] {
		if c.First != nil && !slices.Contains(w.scopes, c.First.ID()) && c.First.Fits(c.Ask, pool) == nil {
			w.all = append(w.all, c.First.Wish(c.Ask, pool, a.batch.orders[c.items[0]].random, a.tx.Attempt()))
			w.scopes = append(w.scopes, c.First.ID())
		}
	}
	if a.batch.together {
		space.DrawTogether(pool.Block, w.all)
	}
	space.ShareStart(pool.Block, w.all)
	return w
}

// byPlace is the wishes by order, and by scope.
func (w wanted) byPlace() (orders map[int]space.Wish, scopes map[ipam.ID]space.Wish) {
	orders, scopes = make(map[int]space.Wish, len(w.owners)), make(map[ipam.ID]space.Wish, len(w.scopes))
	for n, i := range w.owners {
		orders[i] = w.all[n]
	}
	for n, id := range w.scopes {
		scopes[id] = w.all[len(w.owners)+n]
	}
	return orders, scopes
}
