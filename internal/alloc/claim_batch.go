package alloc

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// MaxBatch is the largest number of claims in one batch.
const MaxBatch = 1000

// CreateClaimBatch binds all the claims in one transaction, or none. They are served in order, each from the first of
// its eligible pools that has room.
func (s *Service) CreateClaimBatch(ctx context.Context, project string, claims []ipam.Claim, r Request) (Result[[]ipam.Claim], error) {
	none := Result[[]ipam.Claim]{}
	who, key, err := s.enter(ctx, tenancy.ClaimsWrite, project)
	if err != nil {
		return none, err
	}
	if len(claims) == 0 || len(claims) > MaxBatch {
		return none, ipam.Invalid("/claims", "must hold 1 to %d claims; it holds %d.", MaxBatch, len(claims))
	}
	b := batch{key: key, request: r, items: make([]batchItem, len(claims))}
	names := make(map[string]int, len(claims))
	for i, c := range claims {
		if c.Spec.AllocationRef != "" {
			return none, ipam.Invalid(itemPointer(i)+"/spec/allocationRef", "cannot be used in a batch.")
		}
		if c, err = s.prepareClaim(c, key, who); err != nil {
			return none, inItem(err, i)
		}
		if j, twice := names[c.Name]; twice {
			return none, ipam.Invalid(itemPointer(i)+"/metadata/name", "is the same as that of claim %d of this batch.", j)
		}
		names[c.Name] = i
		b.items[i] = batchItem{claim: c, random: ipam.NewID()}
	}
	return once(ctx, s, key.ID, r, nil, func(ctx context.Context) ([]ipam.Claim, error) {
		return s.bindBatch(ctx, &b)
	})
}

type batch struct {
	key     ProjectKey
	request Request
	items   []batchItem
}

type batchItem struct {
	claim  ipam.Claim
	random ipam.ID
	choice *choice
}

// choice is the pools, in order, for all items that ask for the same.
type choice struct {
	all   []ipam.Pool // eligible
	pools []ipam.Pool // those of them that had room when the batch began
	items []int
}

func (s *Service) bindBatch(ctx context.Context, b *batch) ([]ipam.Claim, error) {
	byPool, err := s.batchPools(ctx, b)
	if err != nil {
		return nil, err
	}
	// The turns of the pools that are tried first. Others may be opened on the way; there the database decides.
	var ids []ipam.ID
	for _, it := range b.items {
		if len(it.choice.pools) > 0 {
			ids = append(ids, it.choice.pools[0].UID)
		}
	}
	release, err := s.lanes.acquire(ctx, ids...)
	if err != nil {
		return nil, err
	}
	defer release()
	bound, err := settled(ctx, s, "claim_batch", b.request.DryRun, func(ctx context.Context, tx Tx) ([]ipam.Claim, error) {
		return s.batchTx(ctx, tx, b, byPool)
	}, func(ctx context.Context) ([]ipam.Claim, bool, error) {
		return s.readBatch(ctx, b)
	})
	if c, ok := asConflict(err); ok && len(c.AnswerKeys) == 0 && len(c.ClaimRefs) > 0 { // a used key: once looks again
		for i, it := range b.items {
			if it.claim.Name != c.ClaimRefs[0].Name {
				continue
			}
			if b.items[i].claim.Rename() {
				return nil, c // once looks again
			}
			return nil, inItem(claimExists(it.claim, "/metadata/name"), i)
		}
	}
	return bound, err
}

// batchPools resolves each item's pools, once for all items that ask for the same, and answers who may draw on each pool.
func (s *Service) batchPools(ctx context.Context, b *batch) (map[ipam.ID][]*choice, error) {
	named := map[string]*ipam.Pool{}
	choices := map[string]*choice{}
	byPool := map[ipam.ID][]*choice{}
	for i := range b.items {
		it := &b.items[i]
		ask := it.claim.Spec
		ask.OwnerRef, ask.ReclaimPolicy = nil, ""
		key, err := json.Marshal(ask)
		if err != nil {
			return nil, ipam.Errorf(ipam.CodeInternal, "The batch cannot be read.").Because(err)
		}
		if it.choice = choices[string(key)]; it.choice != nil {
			it.choice.items = append(it.choice.items, i)
			continue
		}
		name := ask.PoolRef.Name
		if _, seen := named[name]; name != "" && !seen {
			p, found, err := ignoreNotFound(s.store.PoolGet(ctx, b.key, name))
			if err != nil {
				return nil, err
			}
			if named[name] = nil; found {
				named[name] = &p
			}
		}
		pools, err := s.eligible(ctx, s.store, b.key, it.claim.Spec, named[name])
		if err != nil {
			return nil, inItem(err, i)
		}
		room, _, err := s.withRoom(ctx, pools, it.claim.Spec)
		if err != nil {
			return nil, err
		}
		if len(room) == 0 { // all are full: one of them says so in the transaction
			room = pools[:1]
		}
		it.choice = &choice{all: pools, pools: room, items: []int{i}}
		choices[string(key)] = it.choice
		for _, p := range room {
			byPool[p.UID] = append(byPool[p.UID], it.choice)
		}
	}
	return byPool, nil
}

// batchTx is one attempt of the transaction claim_batch. Pools are opened when an item comes to them.
func (s *Service) batchTx(ctx context.Context, tx Tx, b *batch, byPool map[ipam.ID][]*choice) ([]ipam.Claim, error) {
	opened := map[ipam.ID]*batchPool{}
	var order []*batchPool
	var ch Changes
	bound := make([]ipam.Claim, len(b.items))
	for i, it := range b.items {
		served := false
		for _, p := range it.choice.pools {
			t := opened[p.UID]
			if t == nil {
				var err error
				if t, err = openBatchPool(ctx, tx, p, b.items, byPool[p.UID]); err != nil {
					return nil, err
				}
				opened[p.UID], order = t, append(order, t)
			}
			c, ok := t.take(i, it.claim)
			if !ok {
				continue
			}
			bound[i], served = c, true
			ch.ClaimInsert = append(ch.ClaimInsert, c)
			ch.AllocationInsert = append(ch.AllocationInsert, allocationOf(c, t.pool))
			break
		}
		if !served {
			return nil, s.batchRefusal(ctx, tx, it, i, opened)
		}
	}
	for _, t := range order {
		ch.Free = append(ch.Free, t.carver.change())
	}
	stored, err := answers(b.key.ID, b.request, b.items[0].claim.CreatedAt, bound)
	if err != nil {
		return nil, err
	}
	ch.Answers = stored
	return bound, tx.Write(ctx, ch)
}

// batchPool is one pool of a batch: as it is in the transaction, with the rows that any of the items might need.
type batchPool struct {
	pool   ipam.Pool
	carver *carver
	wishes map[int]space.Wish // by item
}

func openBatchPool(ctx context.Context, tx Tx, known ipam.Pool, items []batchItem, choices []*choice) (*batchPool, error) {
	pool, err := tx.PoolGetByID(ctx, known.UID)
	if err != nil {
		return nil, err
	}
	var wishes []space.Wish
	var owners []int
	for _, c := range choices {
		for _, i := range c.items {
			if w, err := wanted(items[i].claim.Spec, pool); err == nil {
				wishes, owners = append(wishes, claimWish(w, pool, items[i].random, tx.Attempt())), append(owners, i)
			}
		}
	}
	space.ShareStart(pool.Block, wishes)
	c := PoolContainer(pool)
	free, err := tx.FreeRead(ctx, c, reads(c, nil, wishes))
	if err != nil {
		return nil, err
	}
	k, err := newCarver(c, nil, free)
	if err != nil {
		return nil, err
	}
	t := &batchPool{pool: pool, carver: k, wishes: make(map[int]space.Wish, len(owners))}
	for n, i := range owners {
		t.wishes[i] = wishes[n]
	}
	return t, nil
}

// take serves item i from this pool, if it has room.
func (t *batchPool) take(i int, c ipam.Claim) (ipam.Claim, bool) {
	wish, ok := t.wishes[i]
	if !ok {
		return c, false
	}
	block, ok := t.carver.take(wish)
	if !ok {
		return c, false
	}
	c.Block, c.Pool, c.PoolID, c.PoolProjectID = block, t.pool.Ref(), t.pool.UID, t.pool.ProjectID
	return c, true
}

// batchRefusal says which item could not be served. What the items before it would have taken is not in the figures:
// nothing was taken.
func (s *Service) batchRefusal(ctx context.Context, read Reader, it batchItem, i int, tables map[ipam.ID]*batchPool) error {
	var (
		fit        []ipam.Pool // whose policy, as it is now, admits the item
		containers []Container
		last       want
		refused    error
	)
	for _, pool := range it.choice.all {
		if t := tables[pool.UID]; t != nil {
			pool = t.pool
		}
		w, err := wanted(it.claim.Spec, pool)
		if err != nil {
			refused = err
			continue
		}
		fit, containers, last = append(fit, pool), append(containers, PoolContainer(pool)), w
	}
	switch {
	case len(fit) == 0:
		return inBatch(refused, i)
	case last.exact.IsValid():
		return inBatch(takenRefusal(ctx, read, fit[len(fit)-1], last.exact, exactPointer(it.claim.Spec), ProjectKey{ID: it.claim.ProjectID, Name: it.claim.Project}), i)
	}
	found, err := read.Stocks(ctx, containers)
	if err != nil {
		return err
	}
	stocks := make([]ipam.Stock, len(fit))
	for n, p := range fit {
		stocks[n] = found[p.UID]
	}
	return inBatch(exhausted(fit, stocks, last.bits), i)
}

// readBatch finds out whether the batch was committed: all of it or none, so that one claim found by its id is proof. A claim
// of a committed batch that is gone by now is answered as it was prepared, without a block.
func (s *Service) readBatch(ctx context.Context, b *batch) ([]ipam.Claim, bool, error) {
	out := make([]ipam.Claim, len(b.items))
	var committed atomic.Bool
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readBackParallel)
	for i, it := range b.items {
		g.Go(func() error {
			got, found, err := ignoreNotFound(s.store.ClaimGet(ctx, b.key, it.claim.Name))
			if err != nil {
				return err
			}
			if out[i] = it.claim; found && got.UID == it.claim.UID {
				out[i] = got
				committed.Store(true)
			}
			return nil
		})
	}
	err := g.Wait()
	return out, committed.Load(), err
}

// readBackParallel is how many claims of a batch are read at once.
const readBackParallel = 8

func itemPointer(i int) string { return "/claims/" + strconv.Itoa(i) }

// inItem moves the places that an error names into item i of the batch.
func inItem(err error, i int) error {
	e, ok := err.(*ipam.Error) //nolint:errorlint // only the refusal itself is re-pointed
	if !ok {
		return err
	}
	c := *e
	c.Fields = slices.Clone(e.Fields)
	for n := range c.Fields {
		if p := c.Fields[n].Pointer; p != "" && p[0] == '/' {
			c.Fields[n].Pointer = itemPointer(i) + p
		}
	}
	if len(c.Fields) == 0 {
		c.Fields = []ipam.Field{{Pointer: itemPointer(i), Detail: "cannot be served."}}
	}
	return &c
}

// inBatch is inItem for refusals by a pool, which the items before this one may have caused.
func inBatch(err error, i int) error {
	err = inItem(err, i)
	if e, ok := err.(*ipam.Error); ok && i > 0 && e.Code == ipam.CodePoolExhausted { //nolint:errorlint // see inItem
		e.Message = "The batch does not fit, at claim " + strconv.Itoa(i) + "; nothing was claimed. Before the batch: " + e.Message
	}
	return err
}
