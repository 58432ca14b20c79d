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

// order is one claim to bind to a block, or one claim to release. It passes from the use case to the transaction.
type order struct {
	key     storage.ProjectKey
	request usecase.Request
	claim   ipam.Claim // the prepared claim to bind, or the claim to release as it was read
	event   ipam.Event // the event for the trail; its result is added later
	choice  *choice    // how to bind the claim; nil for a release

	random   ipam.ID // the seed for the block's position, if the pool's strategy is random
	revision ipam.ID // for a release: its history row's id, and the revision of an allocation that stays

	because ipam.ReleaseCause // the consumer whose end causes the release; if set, the release also detaches the consumer

	cached bool                // the facts come from the cache, and the transaction must find the same facts
	epochs storage.ClassEpochs // the cached versions of the class and its pools
}

// binds reports whether the order creates a claim.
func (o *order) binds() bool { return o.choice != nil }

// frees reports whether the order frees its block at once. A release does, unless the block is retained or must cool down.
func (o *order) frees() bool {
	return !o.binds() && o.claim.ReclaimPolicy == ipam.ReclaimDelete && o.claim.ReuseAfter == 0
}

// consumes reports whether the order attaches or detaches consumers.
func (o *order) consumes() bool { return len(o.claim.Spec.Consumers) > 0 || o.because.IsSet() }

func (o *order) name() storage.NameRef {
	return storage.NameRef{ProjectID: o.key.ID, Name: o.claim.Name}
}

func (o *order) keyRef() storage.NameRef {
	return storage.NameRef{ProjectID: o.key.ID, Name: o.request.Key}
}

// choice is the decision how to bind all the batch's orders with the same spec.
type choice struct {
	resolve.Resolved
	candidates []ipam.Pool // the pools to try, which had room at the last scan
	items      []int       // indexes of the orders in the batch
	pool       ipam.Pool   // the carved pool, if the request asks only for a scope's pool
}

// txOptions describes how the three kinds of transactions that serve orders differ.
type txOptions struct {
	op        string // the transaction's name
	lockKind  locks.WorkKind
	allOrNone bool // the orders belong to one request, and the transaction serves them all or none
	indexed   bool // the request is a list of claims, and a refusal names an index in the list
}

// These are the kinds of transactions:
//   - claim_group serves orders from many requests on one pool. Each order has its own outcome.
//   - claim_first serves a scope's first claim, and carves the scope's pool.
//   - claim_batch serves a list of claims in one request.
var (
	groupTx = txOptions{op: "claim_group"}
	scopeTx = txOptions{op: "claim_first", allOrNone: true}
	batchTx = txOptions{op: "claim_batch", lockKind: locks.Long, allOrNone: true, indexed: true}
)

// batch contains the orders that one transaction serves.
type batch struct {
	txOptions

	orders  []*order
	choices []*choice             // the distinct choices, by their first order
	byPool  map[ipam.ID][]*choice // the choices that may use each pool
}

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
		for _, p := range c.candidates {
			b.byPool[p.UID] = append(b.byPool[p.UID], c)
		}
	}
	return b
}

// key returns the project that a batch for one request belongs to.
func (b *batch) key() storage.ProjectKey { return b.orders[0].key }

// dryRun reports whether the batch must change nothing. A dry run never shares a transaction with other requests.
func (b *batch) dryRun() bool { return b.orders[0].request.DryRun }

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
