package alloc

import (
	"context"
	"slices"
	"strconv"

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
	pools  []ipam.Pool // eligible, in order
}

func (s *Service) bindBatch(ctx context.Context, b *batch) ([]ipam.Claim, error) {
	pools, err := s.batchPools(ctx, b)
	if err != nil {
		return nil, err
	}
	ids := make([]ipam.ID, len(pools))
	for i, p := range pools {
		ids[i] = p.UID
	}
	release, err := s.lanes.acquire(ctx, ids...)
	if err != nil {
		return nil, err
	}
	defer release()
	bound, err := settled(ctx, s, "claim_batch", b.request.DryRun, func(ctx context.Context, tx Tx) ([]ipam.Claim, error) {
		return s.batchTx(ctx, tx, b, pools)
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

// batchPools resolves each item's pools, reading each named pool and each selector once, and answers all of them.
func (s *Service) batchPools(ctx context.Context, b *batch) ([]ipam.Pool, error) {
	named := map[string]*ipam.Pool{}
	all := map[ipam.ID]ipam.Pool{}
	for i := range b.items {
		it := &b.items[i]
		name := it.claim.Spec.PoolRef.Name
		if _, seen := named[name]; name != "" && !seen {
			p, found, err := ignoreNotFound(s.store.PoolGet(ctx, b.key, name))
			if err != nil {
				return nil, err
			}
			named[name] = nil
			if found {
				named[name] = &p
			}
		}
		if i > 0 && it.claim.Spec.PoolSelector != nil && len(differing(b.items[i-1].claim, it.claim)) == 0 {
			it.pools = b.items[i-1].pools // the usual case: a thousand alike
			continue
		}
		var err error
		if it.pools, err = s.eligible(ctx, s.store, b.key, it.claim.Spec, named[name]); err != nil {
			return nil, inItem(err, i)
		}
		for _, p := range it.pools {
			all[p.UID] = p
		}
	}
	pools := make([]ipam.Pool, 0, len(all))
	for _, p := range all {
		pools = append(pools, p)
	}
	slices.SortFunc(pools, func(a, c ipam.Pool) int { return slices.Compare(a.UID[:], c.UID[:]) })
	return pools, nil
}

// batchTx is one attempt of the transaction claim_batch.
func (s *Service) batchTx(ctx context.Context, tx Tx, b *batch, pools []ipam.Pool) ([]ipam.Claim, error) {
	tables := make(map[ipam.ID]*batchPool, len(pools))
	for _, known := range pools {
		t, err := openBatchPool(ctx, tx, known, b.items)
		if err != nil {
			return nil, err
		}
		tables[known.UID] = t
	}
	var ch Changes
	bound := make([]ipam.Claim, len(b.items))
	for i, it := range b.items {
		c, pool, ok := it.take(i, tables)
		if !ok {
			return nil, s.batchRefusal(ctx, tx, it, i, tables)
		}
		bound[i] = c
		ch.ClaimInsert = append(ch.ClaimInsert, c)
		ch.AllocationInsert = append(ch.AllocationInsert, allocationOf(c, pool))
	}
	for _, known := range pools {
		ch.Free = append(ch.Free, tables[known.UID].carver.change())
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

func openBatchPool(ctx context.Context, tx Tx, known ipam.Pool, items []batchItem) (*batchPool, error) {
	pool, err := tx.PoolGetByID(ctx, known.UID)
	if err != nil {
		return nil, err
	}
	var wishes []space.Wish
	var owners []int
	for i, it := range items {
		if !slices.ContainsFunc(it.pools, func(p ipam.Pool) bool { return p.UID == pool.UID }) {
			continue
		}
		if w, err := wanted(it.claim.Spec, pool); err == nil {
			wishes, owners = append(wishes, claimWish(w, pool, it.random, tx.Attempt())), append(owners, i)
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

// take serves item i from the first of its pools that has room.
func (it batchItem) take(i int, tables map[ipam.ID]*batchPool) (ipam.Claim, ipam.Pool, bool) {
	for _, p := range it.pools {
		t := tables[p.UID]
		wish, ok := t.wishes[i]
		if !ok {
			continue
		}
		if block, ok := t.carver.take(wish); ok {
			c := it.claim
			c.Block, c.Pool, c.PoolID, c.PoolProjectID = block, t.pool.Ref(), t.pool.UID, t.pool.ProjectID
			return c, t.pool, true
		}
	}
	return ipam.Claim{}, ipam.Pool{}, false
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
	for _, p := range it.pools {
		pool := tables[p.UID].pool
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
		return inBatch(takenRefusal(ctx, read, fit[len(fit)-1], last.exact, ProjectKey{}), i)
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

// readBatch finds out whether the batch was committed: all of it or none.
func (s *Service) readBatch(ctx context.Context, b *batch) ([]ipam.Claim, bool, error) {
	out := make([]ipam.Claim, len(b.items))
	for i, it := range b.items {
		got, found, err := ignoreNotFound(s.store.ClaimGet(ctx, b.key, it.claim.Name))
		if err != nil || !found || got.UID != it.claim.UID {
			return nil, false, err
		}
		out[i] = got
	}
	return out, true, nil
}

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
