package claims

import (
	"context"
	"errors"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/carve"
	"github.com/carve-ipam/carve/internal/alloc/quota"
	"github.com/carve-ipam/carve/internal/alloc/refusals"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/resolve"
	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// batchRun is one attempt of the transaction claim_batch. Pools are opened when an item comes to them. All claims count in the
// quota shard of the first pool.
type batchRun struct {
	tx     storage.Tx
	batch  *batch
	byPool map[ipam.ID][]*choice
	opened map[ipam.ID]*batchPool // by what stands for the pool in the region that it is drawn from
	order  []*batchPool
	scoped map[ipam.ID]*batchPool // pools that are carved in this transaction, by scope
	ledger *quota.Ledger          // since the first pool was opened
	whole  bool                   // every row that may decide is read, and not few of them
}

// errFewRead ends a plan that was made from few rows, when it finds no room among them for a claim of any place.
var errFewRead = errors.New("too few free rows were read")

func (s *Claims) batchTx(ctx context.Context, tx storage.Tx, b *batch, byPool map[ipam.ID][]*choice) ([]ipam.Claim, error) {
	bound, ch, err := newBatchRun(tx, b, byPool).plan(ctx)
	if errors.Is(err, errFewRead) {
		again := newBatchRun(tx, b, byPool)
		again.whole = true
		bound, ch, err = again.plan(ctx)
	}
	if err != nil {
		return nil, err
	}
	if b.onlyLooks {
		return bound, b.free(ctx, tx)
	}
	return bound, tx.Write(ctx, ch)
}

// free looks whether the names of the batch are free, as writing would find out. Rows that are written in a dry run are locked
// until they are taken back: others who claim in the pool would wait for that.
func (b *batch) free(ctx context.Context, tx storage.Tx) error {
	names := make([]storage.NameRef, len(b.items))
	for i := range b.items {
		names[i] = storage.NameRef{ProjectID: b.key.ID, Name: b.items[i].claim.Name}
	}
	taken, _, err := tx.Taken(ctx, names, nil) // a dry run stores no key
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(n storage.NameRef) bool { return !taken[n] })
	if len(names) > 0 {
		return &storage.Conflict{ClaimRefs: names}
	}
	return nil
}

func newBatchRun(tx storage.Tx, b *batch, byPool map[ipam.ID][]*choice) *batchRun {
	return &batchRun{tx: tx, batch: b, byPool: byPool, opened: map[ipam.ID]*batchPool{}, scoped: map[ipam.ID]*batchPool{}}
}

// plan is what the batch comes to, and what is to be written for it.
func (run *batchRun) plan(ctx context.Context) ([]ipam.Claim, storage.Changes, error) {
	b := run.batch
	n := len(b.items)
	ch := storage.Changes{ClaimInsert: make([]ipam.Claim, 0, n), AllocationInsert: make([]ipam.Allocation, 0, n), Events: make([]ipam.Event, 0, n)}
	from := make([]*batchPool, n)
	for i := range b.items {
		c, t, err := run.serve(ctx, i)
		if err != nil {
			return nil, ch, err
		}
		ch.ClaimInsert, from[i] = append(ch.ClaimInsert, c), t
	}
	at := run.tx.Now() // when all pools are open: see member.stamp
	for i, t := range from {
		c := &ch.ClaimInsert[i]
		c.CreatedAt, c.UpdatedAt = at, at
		e, err := t.event(&b.items[i], c)
		if err != nil {
			return nil, ch, err
		}
		ch.Events, ch.AllocationInsert = append(ch.Events, e), append(ch.AllocationInsert, allocationOf(*c, t.pool))
	}
	bound := ch.ClaimInsert // the answer is that of the whole batch
	for _, t := range run.order {
		if err := t.into(&ch, bound); err != nil {
			return nil, ch, err
		}
	}
	stored, err := b.answers(bound)
	if err != nil {
		return nil, ch, err
	}
	ch.Answers = stored
	run.ledger.Into(&ch)
	return bound, ch, nil
}

// answers is what a repeat of the request is to be answered.
func (b *batch) answers(bound []ipam.Claim) ([]storage.Answer, error) {
	if b.single {
		return usecase.Answers(b.key.ID, b.request, bound[0].CreatedAt, bound[0])
	}
	return usecase.Answers(b.key.ID, b.request, bound[0].CreatedAt, bound)
}

// serve binds item i in the first of its pools that has room, within the quotas, or says why it cannot be.
func (run *batchRun) serve(ctx context.Context, i int) (ipam.Claim, *batchPool, error) {
	it := &run.batch.items[i]
	ask := &it.choice.Ask
	var lacks quota.QuotaLacks
	var overQuota error
	for n := range it.choice.room {
		p := &it.choice.room[n]
		if len(lacks) > 0 && it.choice.First == nil {
			if w, err := ask.Wanted(*p); err == nil && lacks.Stop(quota.ClaimPlace(*p, ask.ClassRef()), quota.ClaimUsage(*p, w.Bits)) {
				continue
			}
		}
		t, err := run.openFor(ctx, it, p)
		if lack, ok := errors.AsType[*quota.QuotaLack](err); ok {
			lacks, overQuota = append(lacks, lack), err
			continue
		}
		if err != nil {
			return it.claim, nil, err
		}
		if t == nil || t.gone {
			continue
		}
		d, err := t.drawnBy(it.choice, run.batch.key)
		if err != nil {
			return it.claim, nil, err
		}
		if !d.may {
			continue
		}
		err = run.ledger.Take(ctx, run.batch.key, d.at, d.usage)
		if lack, ok := errors.AsType[*quota.QuotaLack](err); ok {
			lacks, overQuota = append(lacks, lack), err
			continue
		}
		if err != nil {
			return it.claim, nil, err
		}
		wish := t.wish(i, d.want, it, run.tx.Attempt())
		if block, ok := t.carver.Take(wish); ok {
			t.taken = append(t.taken, granted{wish, block})
			return ask.Bound(it.claim, block, t.pool), t, nil
		}
		if t.few && wish.Strategy == space.Random && !wish.Exact.IsValid() {
			return it.claim, nil, errFewRead
		}
		run.ledger.Give(run.batch.key.ID, d.at, d.usage)
	}
	if overQuota != nil {
		return it.claim, nil, run.at(overQuota, i)
	}
	return it.claim, nil, run.refusal(ctx, i)
}

// openFor opens the pool that an item is served from: one of its pools, or the one of its scope, which is carved from that if need be.
// nil: there is no room for that.
func (run *batchRun) openFor(ctx context.Context, it *batchItem, p *ipam.Pool) (*batchPool, error) {
	if it.choice.First != nil {
		return run.openScope(ctx, *it, *p)
	}
	if t := run.opened[storage.PoolContainer(*p).Lock()]; t != nil {
		return t, nil
	}
	return run.open(ctx, *p)
}

// at places a refusal of item i.
func (run *batchRun) at(err error, i int) error {
	err = run.batch.items[i].choice.Explained(err)
	if run.batch.single {
		return err
	}
	return inBatch(err, i, len(run.batch.items))
}

// batchPool is one pool of a batch: as it is in the transaction, with the rows that any of the items might need. A pool that is
// gone, or may not be used any more, has neither.
type batchPool struct {
	pool    ipam.Pool
	gone    bool
	granted bool
	few     bool      // of its rows that a Random wish may take only some were read
	taken   []granted // by the items so far
	carver  *carve.Carver
	wishes  map[int]space.Wish     // by item
	drawn   map[*choice]*drawing   // by those that came to it
	scopes  map[ipam.ID]space.Wish // for pools to be carved from this one, by scope

	made *ipam.Allocation // a pool that is carved in this transaction: its hold on its parent
}

// wish is what item i wants of the pool.
func (t *batchPool) wish(i int, w resolve.Want, it *batchItem, attempt int) space.Wish {
	if wish, ok := t.wishes[i]; ok {
		return wish
	}
	return w.Wish(t.pool, it.random, attempt)
}

// into adds what becomes of the pool to what the transaction writes.
func (t *batchPool) into(ch *storage.Changes, bound []ipam.Claim) error {
	free := t.carver.Change()
	if t.made == nil {
		ch.Free = append(ch.Free, free)
		ch.ScopedMarks = append(ch.ScopedMarks, occupied(t.pool, bound)...)
		return nil
	}
	free.Delete = nil // it was free in this transaction alone
	ch.Free = append(ch.Free, free)
	ch.PoolInsert = append(ch.PoolInsert, t.pool)
	ch.AllocationInsert = append(ch.AllocationInsert, *t.made)
	event, err := scopedPoolEvent(t.pool)
	ch.Events = append(ch.Events, event)
	return err
}

// open reads a pool once for all items that may draw on it.
func (run *batchRun) open(ctx context.Context, known ipam.Pool) (*batchPool, error) {
	if t := run.opened[storage.PoolContainer(known).Lock()]; t != nil {
		return t, nil
	}
	key, c := run.batch.key, storage.PoolContainer(known)
	q := storage.GroupQuery{Pool: known, Shard: quota.ShardOf(known.UID)}
	if run.ledger == nil {
		q.Projects = []ipam.ID{key.ID}
	}
	if known.ProjectID != key.ID {
		q.Consumers = []string{key.Name}
	}
	wishes, owners, scopes := run.wishes(known)
	rows, few := run.reads(c, wishes)
	facts, err := run.tx.GroupRead(ctx, c, rows, q)
	if ipam.IsCode(err, ipam.CodeNotFound) {
		t := &batchPool{pool: known, gone: true}
		run.opened[storage.PoolContainer(known).Lock()] = t
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	if !facts.Pool.Serves(facts.Pool.Place()) && facts.Pool.Revision != known.Revision { // given up there: whoever looks again finds it at home
		return nil, &storage.Conflict{}
	}
	if err := regions.Fence(facts); err != nil {
		return nil, err
	}
	if run.ledger == nil {
		run.ledger = quota.NewLedger(run.tx, facts.Quotas)
		run.ledger.OneRequest = true
	}
	t := &batchPool{pool: facts.Pool, granted: facts.Granted[key.Name]}
	run.opened[storage.PoolContainer(known).Lock()] = t
	if t.gone = !run.mayOpen(t); t.gone {
		return t, nil
	}
	free := facts.Free
	if !facts.Pool.Spec.Allocation.Equal(known.Spec.Allocation) { // other wishes, which other rows decide
		wishes, owners, scopes = run.wishes(facts.Pool)
		rows, few = run.reads(c, wishes)
		if free, err = run.tx.FreeRead(ctx, c, rows); err != nil {
			return nil, err
		}
	}
	t.few = few && len(free) >= space.Few // or else those are all
	if t.carver, err = carve.NewCarver(c, nil, free); err != nil {
		return nil, err
	}
	t.wishes = make(map[int]space.Wish, len(owners))
	for n, i := range owners {
		t.wishes[i] = wishes[n]
	}
	t.scopes = make(map[ipam.ID]space.Wish, len(scopes))
	for n, id := range scopes {
		t.scopes[id] = wishes[len(owners)+n]
	}
	run.order = append(run.order, t)
	return t, nil
}

// reads names the rows of a container that the wishes are granted from; few when there may be more for those of any place.
func (run *batchRun) reads(c storage.Container, wishes []space.Wish) (rows space.Reads, few bool) {
	if run.whole {
		return space.ReadsFor(c.Block, wishes), false
	}
	return space.FewFor(c.Block, wishes)
}

// mayOpen reports whether any of the choices that came to a pool may still draw from it, or carve a scope's pool from it.
func (run *batchRun) mayOpen(t *batchPool) bool {
	return slices.ContainsFunc(run.byPool[t.pool.UID], func(c *choice) bool {
		if c.First != nil {
			return c.First.MayCarve(t.pool)
		}
		return c.Ask.MayDraw(run.batch.key, t.pool, t.granted)
	})
}

// wishes is what is asked of a pool: wishes[n] is that of item owners[n]; after those come the pools of the scopes.
func (run *batchRun) wishes(pool ipam.Pool) (wishes []space.Wish, owners []int, scopes []ipam.ID) {
	for _, c := range run.byPool[pool.UID] {
		if c.First != nil {
			continue
		}
		w, err := c.Ask.Wanted(pool)
		if err != nil {
			continue
		}
		wishes, owners = slices.Grow(wishes, len(c.items)), slices.Grow(owners, len(c.items))
		for _, i := range c.items {
			wishes, owners = append(wishes, w.Wish(pool, run.batch.items[i].random, run.tx.Attempt())), append(owners, i)
		}
	}
	for _, c := range run.byPool[pool.UID] {
		if c.First != nil && !slices.Contains(scopes, c.First.ID()) && c.First.Fits(c.Ask, pool) == nil {
			wishes = append(wishes, c.First.Wish(c.Ask, pool, run.batch.items[c.items[0]].random, run.tx.Attempt()))
			scopes = append(scopes, c.First.ID())
		}
	}
	space.DrawTogether(pool.Block, wishes)
	space.ShareStart(pool.Block, wishes)
	return wishes, owners, scopes
}

// refusal says why item i could not be served. What the items before it would have taken is not in the figures: nothing was
// taken.
func (run *batchRun) refusal(ctx context.Context, i int) error {
	var (
		c       = run.batch.items[i].choice
		fit     []ipam.Pool // whose policy, as it is now, admits the item
		last    resolve.Want
		refused error
	)
	if c.First != nil {
		if t := run.scoped[c.First.ID()]; t != nil {
			if _, err := c.Ask.Wanted(t.pool); err != nil {
				return run.at(c.Unnamed(err), i)
			}
			return run.at(noneLeftInScope(c.First.Class, *c.First.Class.Spec.PoolPrefixLength), i)
		}
	}
	for _, pool := range c.Pools {
		if t := run.opened[storage.PoolContainer(pool).Lock()]; t != nil {
			if t.gone || !(c.First != nil && c.First.MayCarve(t.pool)) && !c.Ask.MayDraw(run.batch.key, t.pool, t.granted) {
				continue
			}
			pool = t.pool
		}
		w, err := c.WantedOf(pool)
		if err != nil {
			refused = err
			continue
		}
		fit, last = append(fit, pool), w
	}
	switch {
	case len(fit) == 0 && refused == nil:
		return run.at(c.NoPoolLeft(), i)
	case len(fit) == 0:
		return run.at(c.Unnamed(refused), i)
	case last.Exact.IsValid():
		err := run.at(refusals.TakenRefusal(ctx, run.tx, c.Telling(), fit[len(fit)-1], last.Exact, resolve.ExactPointer(c.Ask.Spec)), i)
		return run.unlessOnItsWay(err, fit, last.Exact)
	}
	return run.lacking(i, c, fit, last.Bits)
}

// lacking says that item i, a choice of its, has no room in any of the pools.
func (run *batchRun) lacking(i int, c *choice, fit []ipam.Pool, bits int) error {
	return &refusals.Lacking{
		Tell: c.Telling(), Pools: fit, Bits: bits, With: func(err error) error { return run.at(err, i) },
		Item: i, Demands: run.demands(i, c, fit),
	}
}
