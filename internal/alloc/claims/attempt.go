package claims

import (
	"context"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/attach"
	"github.com/carve-ipam/carve/internal/alloc/carve"
	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/quota"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// attempt is one run of a transaction that serves a batch's orders. It opens a pool once, when the first order needs it. All orders count in the
// first pool's quota shard.
type attempt struct {
	tx        storage.Tx
	batch     *batch
	region    string // region of this server
	fromCache bool   // the pools come from the cache: it serves all orders, or refuses all for lack of room
	readAll   bool   // read every row that can decide, and not only the first few

	opened map[ipam.ID]*openPool // by the pool's lock id in its region
	drawn  []*openPool           // the pools with a carver, in the order of their opening
	scoped map[ipam.ID]*openPool // pools that this transaction carves, by scope
	ledger *quota.Ledger         // nil until the first pool is opened

	bound []ipam.Claim // by order
	from  []*openPool  // by order; nil: the order has no block

	refused []error // of a group: the reason for each refusal, by order

	users attach.Users // consumers of the new claims
}

func newAttempt(tx storage.Tx, b *batch, region string) *attempt {
	return &attempt{
		tx: tx, batch: b, region: region, readAll: !b.allOrNone,
		opened: map[ipam.ID]*openPool{},
		bound:  make([]ipam.Claim, len(b.orders)), from: make([]*openPool, len(b.orders)),
	}
}

// openPool is a pool from which orders are served: its state in the transaction, and the rows that the orders may need.
type openPool struct {
	pool    ipam.Pool
	granted map[string]bool     // projects with a grant, by name
	epochs  map[ipam.ID]ipam.ID // class versions of the projects that use classes
	missing bool                // the pool does not exist any more
	stock   *ipam.Stock         // the pool's free space, if known
	away    bool                // the pool is not served in this region any more: a repeated look-up finds it at its home
	few     bool                // only some of the rows for Random wishes were read

	carver *carve.Carver  // nil: no order may draw from the pool
	taken  []grantedBlock // blocks that the attempt has taken so far
	wishes map[int]freespace.BlockRequest
	draws  map[*choice]*poolDecision          // one for each choice that reached this pool
	scopes map[ipam.ID]freespace.BlockRequest // for pools to be carved from this one, by scope

	made *ipam.Allocation // of a pool that this transaction carves: its allocation in the parent pool
}

// grantedBlock is a wish with the block that it got.
type grantedBlock struct {
	request freespace.BlockRequest
	block   netip.Prefix
}

// open reads a pool once for all orders that may draw from it. Every claim and every release opens its pool here. open checks the fence and the
// pool's current policy, and reads the free rows that decide.
func (a *attempt) open(ctx context.Context, known ipam.Pool) (*openPool, error) {
	c := storage.PoolContainer(known)
	if src := a.opened[c.Lock()]; src != nil {
		return src, nil
	}
	w := a.requests(known)
	rows, few := a.reads(c, w.all)
	facts, err := a.tx.GroupRead(ctx, c, rows, a.query(known))
	if ipam.IsCode(err, ipam.CodeNotFound) {
		a.opened[c.Lock()] = &openPool{pool: known, missing: true}
		return a.opened[c.Lock()], nil
	}
	if err != nil {
		return nil, err
	}
	pool, free := facts.Pool, facts.Free
	src := &openPool{pool: pool, granted: facts.Granted, epochs: facts.Epochs, stock: facts.Stock, away: !pool.Serves(pool.Place())}
	if a.opened[c.Lock()] = src; src.away {
		return src, nil
	}
	if err := regions.Fence(facts); err != nil {
		return nil, err
	}
	if a.ledger == nil {
		a.ledger = quota.NewLedger(a.tx, facts.Quotas)
		a.ledger.OneRequest = a.batch.allOrNone
	}
	if !a.serves(src) {
		return src, nil
	}
	if !pool.Spec.Allocation.Equal(known.Spec.Allocation) { // the policy has changed, and so have the wishes: read the rows for these
		w = a.requests(pool)
		rows, few = a.reads(c, w.all)
		if free, err = a.tx.FreeRead(ctx, c, rows); err != nil {
			return nil, err
		}
	}
	src.few = few && len(free) >= freespace.Few // fewer rows than the limit are all rows
	if src.carver, err = carve.NewCarver(c, a.batch.released(c), free); err != nil {
		return nil, err
	}
	src.wishes, src.scopes = w.split()
	a.drawn = append(a.drawn, src)
	return src, nil
}

// serves reports whether the batch needs an opened pool. It does if an order gives a block back to the pool, or if a choice may still draw from it or
// carve a scope's pool from it.
func (a *attempt) serves(src *openPool) bool {
	return slices.ContainsFunc(a.batch.orders, func(o *order) bool { return !o.binds() && o.claim.PoolID == src.pool.UID }) ||
		slices.ContainsFunc(a.batch.byPool[src.pool.UID], func(c *choice) bool { return a.mayDraw(c, src) })
}

// mayDraw reports whether a choice may draw from a pool or carve its scope's pool from it.
func (a *attempt) mayDraw(c *choice, src *openPool) bool {
	if c.First != nil {
		return c.First.MayCarve(src.pool)
	}
	key := a.batch.orders[c.items[0]].key
	return c.Ask.MayDraw(key, src.pool, src.granted[key.Name])
}

// query requests the quotas of the orders' projects, the pool's grants to other projects, and the versions of cached classes.
func (a *attempt) query(pool ipam.Pool) storage.GroupQuery {
	q := storage.GroupQuery{Pool: pool, Shard: quota.ShardOf(pool.UID), Remember: !a.batch.allOrNone && !a.batch.dryRun()}
	if a.ledger == nil {
		q.Projects = a.batch.projects()
	}
	for _, c := range a.batch.byPool[pool.UID] {
		o := a.batch.orders[c.items[0]]
		if c.Ask.Class == nil && o.key.ID != pool.ProjectID && !slices.Contains(q.Consumers, o.key.Name) {
			q.Consumers = append(q.Consumers, o.key.Name)
		}
		if c.Ask.Class != nil && o.cached && !slices.Contains(q.Classes, o.key) {
			q.Classes = append(q.Classes, o.key)
		}
	}
	return q
}

// reads returns the rows in a container that can serve the wishes. It returns few when the container may have more rows for the wishes without a
// fixed place.
func (a *attempt) reads(c storage.Container, wishes []freespace.BlockRequest) (rows freespace.Reads, few bool) {
	if !a.readAll {
		return freespace.FewFor(c.Block, wishes)
	}
	return carve.Reads(c, a.batch.released(c), wishes), false
}

// poolRequests lists the wishes for a pool: all[n] is the wish of order owners[n]. The wishes for scope pools follow.
type poolRequests struct {
	all    []freespace.BlockRequest
	owners []int
	scopes []ipam.ID
}

// requests returns the wishes for a pool. It skips orders that the pool can never serve.
func (a *attempt) requests(pool ipam.Pool) (w poolRequests) {
	for _, c := range a.batch.byPool[pool.UID] {
		if c.First != nil {
			continue
		}
		want, err := c.Ask.BlockSpec(pool)
		if err != nil {
			continue
		}
		w.all, w.owners = slices.Grow(w.all, len(c.items)), slices.Grow(w.owners, len(c.items))
		for _, i := range c.items {
			w.all, w.owners = append(w.all, want.Request(pool, a.batch.orders[i].random, a.tx.Attempt())), append(w.owners, i)
		}
	}
	for _, c := range a.batch.byPool[pool.UID] {
		if c.First != nil && !slices.Contains(w.scopes, c.First.ID()) && c.First.Fits(c.Ask, pool) == nil {
			w.all = append(w.all, c.First.Request(c.Ask, pool, a.batch.orders[c.items[0]].random, a.tx.Attempt()))
			w.scopes = append(w.scopes, c.First.ID())
		}
	}
	if a.batch.allOrNone {
		freespace.DrawTogether(pool.Block, w.all)
	}
	freespace.ShareStart(pool.Block, w.all)
	return w
}

// split returns the wishes by order and by scope.
func (w poolRequests) split() (orders map[int]freespace.BlockRequest, scopes map[ipam.ID]freespace.BlockRequest) {
	orders, scopes = make(map[int]freespace.BlockRequest, len(w.owners)), make(map[ipam.ID]freespace.BlockRequest, len(w.scopes))
	for n, i := range w.owners {
		orders[i] = w.all[n]
	}
	for n, id := range w.scopes {
		scopes[id] = w.all[len(w.owners)+n]
	}
	return orders, scopes
}
