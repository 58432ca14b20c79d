package claims

import (
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/resolve"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/turns"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// order is one claim on its way from the use case to the rows: to be bound to a block, or to be released.
type order struct {
	key     storage.ProjectKey
	request usecase.Request
	claim   ipam.Claim // to be bound: prepared; to be released: as it was read
	event   ipam.Event // what the trail is to say, without the effect: made from the request's own context
	choice  *choice    // how it is served; nil: it is to be released

	random   ipam.ID // draws the block's place, if the pool's strategy draws
	revision ipam.ID // of a release: the id of its row of history, and the revision of the allocation, if that stays

	because ipam.Because // which consumer's end releases the claim; told: it is detached along with that

	remembered bool                // what it begins with was not read for this request: the transaction has to find the same
	epochs     storage.ClassEpochs // of the class, and of the pools behind it, as they are remembered
}

// binds reports whether the order is for a new claim.
func (o *order) binds() bool { return o.choice != nil }

// frees reports whether the order gives its block back at once: a release does, unless the block is retained or has to cool down.
func (o *order) frees() bool {
	return !o.binds() && o.claim.ReclaimPolicy == ipam.ReclaimDelete && o.claim.ReuseAfter == 0
}

// consumes reports whether consumers are attached or detached by it.
func (o *order) consumes() bool { return len(o.claim.Spec.Consumers) > 0 || o.because.Told() }

// name is the claim's name in its project.
func (o *order) name() storage.NameRef {
	return storage.NameRef{ProjectID: o.key.ID, Name: o.claim.Name}
}

// answerKey is the request's idempotency key in its project.
func (o *order) answerKey() storage.NameRef {
	return storage.NameRef{ProjectID: o.key.ID, Name: o.request.Key}
}

// choice is how all orders of a batch that ask for the same are served.
type choice struct {
	resolve.Resolved
	room  []ipam.Pool // the pools to try: those that had room when they were looked at
	items []int       // the orders, by their places in the batch
	pool  ipam.Pool   // that was carved, where the scope's pool is all that is asked for
}

// manner is in what the transactions that serve orders differ.
type manner struct {
	op       string // the transaction's name
	turn     turns.TurnKind
	together bool // the orders are one request: all of them are served, or none
	listed   bool // its answer is the list of their claims, and its refusal names a place in that
}

// A group is the orders of many requests on one pool, each with its own outcome. The first claim of a scope carves the scope's pool as well.
var (
	inGroup = manner{op: "claim_group"}
	inScope = manner{op: "claim_first", together: true}
	inList  = manner{op: "claim_batch", turn: turns.Long, together: true, listed: true}
)

// batch is the orders that one transaction serves.
type batch struct {
	manner

	orders  []*order
	choices []*choice             // each once, in the order of the first that it serves
	byPool  map[ipam.ID][]*choice // who may draw on each pool
}

// newBatch makes a batch of orders, whose pools are chosen.
func newBatch(m manner, orders []*order) *batch {
	b := &batch{manner: m, orders: orders, byPool: map[ipam.ID][]*choice{}}
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

// key is the project of a batch that is one request.
func (b *batch) key() storage.ProjectKey { return b.orders[0].key }

// dryRun reports whether nothing is to be changed: requests for a dry run share no transaction.
func (b *batch) dryRun() bool { return b.orders[0].request.DryRun }

// projects is whose orders these are.
func (b *batch) projects() (ids []ipam.ID) {
	for _, o := range b.orders {
		if !slices.Contains(ids, o.key.ID) {
			ids = append(ids, o.key.ID)
		}
	}
	return ids
}

// opensScope reports whether the pool of a scope is to be carved.
func (b *batch) opensScope() bool {
	return slices.ContainsFunc(b.choices, func(c *choice) bool { return c.First != nil })
}

// released is the blocks that are free in a container as soon as the orders give them back.
func (b *batch) released(c storage.Container) (blocks []netip.Prefix) {
	for _, o := range b.orders {
		if o.frees() && o.claim.PoolID == c.ID && o.claim.Region == c.Region {
			blocks = append(blocks, o.claim.Block)
		}
	}
	return blocks
}
