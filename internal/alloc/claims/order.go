package claims

import (
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/locks"
	"github.com/carve-ipam/carve/internal/alloc/resolve"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// order is one claim on its way from the use case to the rows: to bind to a block, or to release.
type order struct {
	key     storage.ProjectKey
	request usecase.Request
	claim   ipam.Claim // to bind: prepared; to release: as it was read
	event   ipam.Event // the event for the trail without its effect, built from the request's context
	choice  *choice    // how to serve it; nil: a release

	random   ipam.ID // seed for the block's place, if the pool's strategy is random
	revision ipam.ID // of a release: the id of its history row, and the revision of an allocation that stays

	because ipam.Because // the consumer that ended and so causes the release; if set, the release also detaches it

	cached bool                // the facts come from the cache: the transaction must find the same
	epochs storage.ClassEpochs // cached versions: the class and its pools
}

// binds reports whether the order creates a claim.
func (o *order) binds() bool { return o.choice != nil }

// frees reports whether the order frees its block at once. A release does, unless the block is retained or must cool down.
func (o *order) frees() bool {
	return !o.binds() && o.claim.ReclaimPolicy == ipam.ReclaimDelete && o.claim.ReuseAfter == 0
}

// consumes reports whether the order attaches or detaches consumers.
func (o *order) consumes() bool { return len(o.claim.Spec.Consumers) > 0 || o.because.IsSet() }

// name returns the claim's name in its project.
func (o *order) name() storage.NameRef {
	return storage.NameRef{ProjectID: o.key.ID, Name: o.claim.Name}
}

// answerKey returns the request's idempotency key in its project.
func (o *order) answerKey() storage.NameRef {
	return storage.NameRef{ProjectID: o.key.ID, Name: o.request.Key}
}

// choice is the decision how to serve all orders of a batch with the same spec.
type choice struct {
	resolve.Resolved
	room  []ipam.Pool // pools to try, with room at the last scan
	items []int       // indexes of the orders in the batch
	pool  ipam.Pool   // the carved pool, where the request is for a scope's pool alone
}

// txOptions is the set of differences between the transactions that serve orders.
type txOptions struct {
	op        string // name of the transaction
	lockKind  locks.WorkKind
	allOrNone bool // the orders are one request: the transaction serves all, or none
	indexed   bool // the request is a list of claims: a refusal names an index in it
}

// A group contains orders from many requests on one pool, each with its own outcome. A scope's first claim also carves the scope's pool. A list is a
// batch in one request.
var (
	groupTx = txOptions{op: "claim_group"}
	scopeTx = txOptions{op: "claim_first", allOrNone: true}
	batchTx = txOptions{op: "claim_batch", lockKind: locks.Long, allOrNone: true, indexed: true}
)

// batch is the orders that one transaction serves.
type batch struct {
	txOptions

	orders  []*order
	choices []*choice             // distinct choices, in the order of the first order that each serves
	byPool  map[ipam.ID][]*choice // choices that may draw from each pool
}

// newBatch creates a batch of orders with chosen pools.
func newBatch(m txOptions, orders []*order) *batch {
	b := &batch{txOptions: m, orders: orders, byPool: map[ipam.ID][]*choice{}}
	for _, o := range orders {
		if o.binds() {
			o.choice.items = o.choice.items[:0]
		}
	}
	for i, o := range orders {
		c := o.choice
		if c == nil {
			continue
		}
		if c.items = append(c.items, i); len(c.items) > 1 {
			continue
		}
		b.choices = append(b.choices, c)
		for _, p := range c.room {
			b.byPool[p.UID] = append(b.byPool[p.UID], c)
		}
	}
	return b
}

// key returns the project for a batch that is one request.
func (b *batch) key() storage.ProjectKey { return b.orders[0].key }

// dryRun reports whether the batch must change nothing. Dry runs share no transaction with other requests.
func (b *batch) dryRun() bool { return b.orders[0].request.DryRun }

// projects returns the orders' distinct projects.
func (b *batch) projects() (ids []ipam.ID) {
	for _, o := range b.orders {
		if !slices.Contains(ids, o.key.ID) {
			ids = append(ids, o.key.ID)
		}
	}
	return ids
}

// opensScope reports whether the batch carves a scope's pool.
func (b *batch) opensScope() bool {
	return slices.ContainsFunc(b.choices, func(c *choice) bool { return c.First != nil })
}

// released returns the blocks that the orders' releases free in a container.
func (b *batch) released(c storage.Container) (blocks []netip.Prefix) {
	for _, o := range b.orders {
		if o.frees() && o.claim.PoolID == c.ID && o.claim.Region == c.Region {
			blocks = append(blocks, o.claim.Block)
		}
	}
	return blocks
}
