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

// attempt is one run of a transaction that serves a batch. Each of the batch's orders binds or releases one claim. A choice contains the pools to try
// for all orders with the same spec. The attempt opens each pool once, when the first order needs the pool. All orders use the quota shard of the
// first opened pool.
type attempt struct {
	tx        storage.Tx
	batch     *batch
	region    string // this server's region
	fromCache bool   // the pools come from the cache; the attempt then serves all orders, or refuses all for lack of room
	readAll   bool   // read every free row that can matter, not only the first few

	opened map[ipam.ID]*openPool // by the pool's lock id in its region
	drawn  []*openPool           // the pools from which an order may take a block, in the order in which they were opened
	scoped map[ipam.ID]*openPool // the scope pools that this transaction carves, by scope
	ledger *quota.Ledger         // nil until the first pool is opened

	bound []ipam.Claim // the bound claims, by order
	from  []*openPool  // the pool that served each order; nil: the order has no block

	refused []error // for a group only: the reason for each refusal, by order

	users attach.Users // consumers of the new claims
}

func newAttempt(tx storage.Tx, b *batch, region string) *attempt {
	return &attempt{
		tx: tx, batch: b, region: region, readAll: !b.allOrNone,
		opened: map[ipam.ID]*openPool{},
		bound:  make([]ipam.Claim, len(b.orders)), from: make([]*openPool, len(b.orders)),
	}
}

// openPool is a pool that serves orders. It contains the pool's state in the transaction, and the rows that the orders may need.
type openPool struct {
	pool    ipam.Pool
	granted map[string]bool     // the projects that a grant allows to use the pool, by name
	epochs  map[ipam.ID]ipam.ID // the class versions, by project
	missing bool                // the pool does not exist any more
	stock   *ipam.Stock         // the pool's free space, if known
	away    bool                // the pool no longer serves this region; a repeated look-up finds its home region
	few     bool                // only a few of the rows for random block requests were read

	carver *carve.Carver  // nil: no order may take a block from the pool
	taken  []grantedBlock // blocks that the attempt has taken so far
	wishes map[int]freespace.BlockRequest
	draws  map[*choice]*poolDecision          // one decision for each choice that reached this pool
	scopes map[ipam.ID]freespace.BlockRequest // the requests for scope pools to carve from this pool, by scope

	made *ipam.Allocation // set if this transaction carves the pool: the pool's allocation in its parent pool
}

// grantedBlock is a block request with the block that it got.
type grantedBlock struct {
	request freespace.BlockRequest
	block   netip.Prefix
}

// open reads a pool once for all orders that may use it. Every claim and every release opens its pool here. If the pool has two different versions in
// this region, open refuses to use it (regions.Fence). It also checks the pool's current policy, and it reads the free rows that the orders need.
func (a *attempt) open(ctx context.Context, known ipam.Pool) (*openPool, error) {
	c := storage.PoolContainer(known)
	if src := a.opened[c.Lock()]; src != nil {
		return src, nil
	}
	w := a.requests(known)
	rows, few := a.reads(c, w.requests)
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
	// If the policy has changed, the block requests have changed too. Then read the rows for the new requests.
	if !pool.Spec.Allocation.Equal(known.Spec.Allocation) {
		w = a.requests(pool)
		rows, few = a.reads(c, w.requests)
		if free, err = a.tx.FreeRead(ctx, c, rows); err != nil {
			return nil, err
		}
	}
	// If the read returned fewer rows than the limit, it returned all rows.
	src.few = few && len(free) >= freespace.FewRows
	if src.carver, err = carve.NewCarver(c, a.batch.released(c), free); err != nil {
		return nil, err
	}
	src.wishes, src.scopes = w.split()
	a.drawn = append(a.drawn, src)
	return src, nil
}

// serves reports whether the batch needs an opened pool. The batch needs the pool in two cases:
//   - An order gives a block back to the pool.
//   - A choice may still take a block from the pool, or carve a scope's pool from it.
func (a *attempt) serves(src *openPool) bool {
	return slices.ContainsFunc(a.batch.orders, func(o *order) bool { return !o.binds() && o.claim.PoolID == src.pool.UID }) ||
		slices.ContainsFunc(a.batch.byPool[src.pool.UID], func(c *choice) bool { return a.mayDraw(c, src) })
}

// mayDraw reports whether a choice may take a block from a pool, or carve its scope's pool from that pool.
func (a *attempt) mayDraw(c *choice, src *openPool) bool {
	if c.First != nil {
		return c.First.MayCarve(src.pool)
	}
	key := a.batch.orders[c.items[0]].key
	return c.Ask.MayDraw(key, src.pool, src.granted[key.Name])
}

// query lists the facts to read with a pool. These are the quotas of the orders' projects, the pool's grants to other projects, and the versions of
// cached classes.
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

// reads returns the rows to read in a container to serve block requests. If few is true, the container may have more rows that could serve the
// requests without an exact CIDR.
func (a *attempt) reads(c storage.Container, wishes []freespace.BlockRequest) (rows freespace.Reads, few bool) {
	if !a.readAll {
		return freespace.FewFor(c.Block, wishes)
	}
	return carve.Reads(c, a.batch.released(c), wishes), false
}

// poolRequests contains the block requests for one pool. requests[n] is the request from the order with index owners[n]. The requests for scope pools
// are at the end of the slice.
type poolRequests struct {
	requests []freespace.BlockRequest
	owners   []int
	scopes   []ipam.ID
}

// requests returns the block requests for a pool. It skips the orders that the pool can never serve.
func (a *attempt) requests(pool ipam.Pool) (w poolRequests) {
	for _, c := range a.batch.byPool[pool.UID] {
		if c.First != nil {
			continue
		}
		want, err := c.Ask.BlockSpec(pool)
		if err != nil {
			continue
		}
		w.requests, w.owners = slices.Grow(w.requests, len(c.items)), slices.Grow(w.owners, len(c.items))
		for _, i := range c.items {
			w.requests, w.owners = append(w.requests, want.Request(pool, a.batch.orders[i].random, a.tx.Attempt())), append(w.owners, i)
		}
	}
	for _, c := range a.batch.byPool[pool.UID] {
		if c.First != nil && !slices.Contains(w.scopes, c.First.ID()) && c.First.Fits(c.Ask, pool) == nil {
			w.requests = append(w.requests, c.First.Request(c.Ask, pool, a.batch.orders[c.items[0]].random, a.tx.Attempt()))
			w.scopes = append(w.scopes, c.First.ID())
		}
	}
	if a.batch.allOrNone {
		freespace.DrawTogether(pool.Block, w.requests)
	}
	freespace.ShareStart(pool.Block, w.requests)
	return w
}

// split returns the block requests by order and by scope.
func (w poolRequests) split() (orders map[int]freespace.BlockRequest, scopes map[ipam.ID]freespace.BlockRequest) {
	orders, scopes = make(map[int]freespace.BlockRequest, len(w.owners)), make(map[ipam.ID]freespace.BlockRequest, len(w.scopes))
	for n, i := range w.owners {
		orders[i] = w.requests[n]
	}
	for n, id := range w.scopes {
		scopes[id] = w.requests[len(w.owners)+n]
	}
	return orders, scopes
}
