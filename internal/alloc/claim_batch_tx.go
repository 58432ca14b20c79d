package alloc

import (
	"context"
	"errors"

	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/ipam"
)

// batchRun is one attempt of the transaction claim_batch. Pools are opened when an item comes to them. All claims count in the
// quota shard of the first pool.
type batchRun struct {
	tx     Tx
	batch  *batch
	byPool map[ipam.ID][]*choice
	opened map[ipam.ID]*batchPool
	order  []*batchPool
	ledger *ledger // since the first pool was opened
}

func (s *Service) batchTx(ctx context.Context, tx Tx, b *batch, byPool map[ipam.ID][]*choice) ([]ipam.Claim, error) {
	run := &batchRun{tx: tx, batch: b, byPool: byPool, opened: map[ipam.ID]*batchPool{}}
	var ch Changes
	bound := make([]ipam.Claim, len(b.items))
	for i, it := range b.items {
		c, pool, err := run.serve(ctx, i)
		if err != nil {
			return nil, err
		}
		if err := bindInto(&ch, c, pool, it.event, Request{}); err != nil { // the answer is that of the whole batch
			return nil, err
		}
		bound[i] = c
	}
	for _, t := range run.order {
		ch.Free = append(ch.Free, t.carver.change())
	}
	stored, err := answers(b.key.ID, b.request, b.items[0].claim.CreatedAt, bound)
	if err != nil {
		return nil, err
	}
	ch.Answers = stored
	run.ledger.into(&ch)
	return bound, tx.Write(ctx, ch)
}

// serve binds item i in the first of its pools that has room, within the quotas, or says why it cannot be.
func (run *batchRun) serve(ctx context.Context, i int) (ipam.Claim, ipam.Pool, error) {
	it := run.batch.items[i]
	var lacks quotaLacks
	var overQuota error
	for _, p := range it.choice.pools {
		if w, err := wanted(it.claim.Spec, p); err == nil && lacks.stop(p, claimUsage(p, w.bits)) {
			continue
		}
		t, err := run.open(ctx, p)
		if err != nil {
			return it.claim, p, err
		}
		wish, ok := t.wishes[i]
		if !ok {
			continue
		}
		usage := claimUsage(t.pool, wish.Bits)
		err = run.ledger.take(ctx, run.batch.key, t.pool.Ref(), t.pool.Family(), usage)
		if lack, ok := errors.AsType[*quotaLack](err); ok {
			lacks, overQuota = append(lacks, lack), err
			continue
		}
		if err != nil {
			return it.claim, p, err
		}
		if block, ok := t.carver.take(wish); ok {
			return boundTo(it.claim, block, t.pool), t.pool, nil
		}
		run.ledger.give(run.batch.key.ID, t.pool.Ref(), t.pool.Family(), usage)
	}
	if overQuota != nil {
		return it.claim, ipam.Pool{}, inBatch(overQuota, i)
	}
	return it.claim, ipam.Pool{}, run.refusal(ctx, i)
}

// batchPool is one pool of a batch: as it is in the transaction, with the rows that any of the items might need. A pool that is
// gone, or may not be used any more, has neither.
type batchPool struct {
	pool   ipam.Pool
	gone   bool
	carver *carver
	wishes map[int]space.Wish // by item
}

// open reads a pool once for all items that may draw on it.
func (run *batchRun) open(ctx context.Context, known ipam.Pool) (*batchPool, error) {
	if t := run.opened[known.UID]; t != nil {
		return t, nil
	}
	key, c := run.batch.key, PoolContainer(known)
	q := GroupQuery{Shard: shardOf(known.UID)}
	if run.ledger == nil {
		q.Projects = []ipam.ID{key.ID}
	}
	if known.ProjectID != key.ID {
		q.Consumers = []string{key.Name}
	}
	wishes, owners := run.wishes(known)
	facts, err := run.tx.GroupRead(ctx, c, reads(c, nil, wishes), q)
	if ipam.IsCode(err, ipam.CodeNotFound) {
		t := &batchPool{pool: known, gone: true}
		run.opened[known.UID] = t
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	if run.ledger == nil {
		run.ledger = newLedger(run.tx, facts.Quotas)
		run.ledger.oneRequest = true
	}
	t := &batchPool{pool: facts.Pool}
	run.opened[known.UID] = t
	if t.gone = !mayClaim(key, facts.Pool, facts.Granted[key.Name]); t.gone {
		return t, nil
	}
	free := facts.Free
	if !facts.Pool.Spec.Allocation.Equal(known.Spec.Allocation) { // other wishes, which other rows decide
		wishes, owners = run.wishes(facts.Pool)
		if free, err = run.tx.FreeRead(ctx, c, reads(c, nil, wishes)); err != nil {
			return nil, err
		}
	}
	if t.carver, err = newCarver(c, nil, free); err != nil {
		return nil, err
	}
	t.wishes = make(map[int]space.Wish, len(owners))
	for n, i := range owners {
		t.wishes[i] = wishes[n]
	}
	run.order = append(run.order, t)
	return t, nil
}

// wishes is what the items ask of a pool; wishes[n] is that of item owners[n].
func (run *batchRun) wishes(pool ipam.Pool) (wishes []space.Wish, owners []int) {
	for _, c := range run.byPool[pool.UID] {
		for _, i := range c.items {
			it := run.batch.items[i]
			if w, err := wanted(it.claim.Spec, pool); err == nil {
				wishes, owners = append(wishes, claimWish(w, pool, it.random, run.tx.Attempt())), append(owners, i)
			}
		}
	}
	space.ShareStart(pool.Block, wishes)
	return wishes, owners
}

// refusal says why item i could not be served. What the items before it would have taken is not in the figures: nothing was
// taken.
func (run *batchRun) refusal(ctx context.Context, i int) error {
	var (
		it         = run.batch.items[i]
		fit        []ipam.Pool // whose policy, as it is now, admits the item
		containers []Container
		last       want
		refused    error
	)
	for _, pool := range it.choice.all {
		if t := run.opened[pool.UID]; t != nil {
			if t.gone {
				continue
			}
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
	case len(fit) == 0 && refused == nil:
		return inItem(noPoolLeft(run.batch.key, it.claim.Spec), i)
	case len(fit) == 0:
		return inBatch(refused, i)
	case last.exact.IsValid():
		return inBatch(takenRefusal(ctx, run.tx, fit[len(fit)-1], last.exact, exactPointer(it.claim.Spec), run.batch.key), i)
	}
	found, err := run.tx.Stocks(ctx, containers)
	if err != nil {
		return err
	}
	stocks := make([]ipam.Stock, len(fit))
	for n, p := range fit {
		stocks[n] = found[p.UID]
	}
	return inBatch(exhausted(fit, stocks, last.bits), i)
}
