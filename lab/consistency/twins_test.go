package consistency_test

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/lab/consistency"
)

// The same harness must detect a missing protection. Each of these stores is the real store without one protection.

func TestHarnessDetectsEachTwin(t *testing.T) {
	t.Parallel()
	for name, twin := range map[string]func(storage.Store) storage.Store{
		"ThatPlansOnStaleReads":     func(s storage.Store) storage.Store { return &staleTwin{Store: s, read: map[ipam.ID][]netip.Prefix{}} },
		"ThatHidesTheLastFreeBlock": func(s storage.Store) storage.Store { return stingyTwin{s} },
		"ThatIgnoresCommitErrors":   func(s storage.Store) storage.Store { return &forgetfulTwin{Store: s} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(20) { // one seed is nearly always enough
				b := setup(t, pools(), ipam.BestFit, 2, twin)
				r := consistency.Workload{Pools: pools(), Clients: 4, Operations: 20, Seed: seed}.Run(b.ctx, b.targets...)
				v := r.Check(searchLimit)
				t.Logf("seed %d: %v", seed, v)
				if v.Result == porcupine.Illegal {
					return
				}
			}
			t.Fatal("the harness takes the twin for the real thing")
		})
	}
}

// searchLimit limits a search. The errors of a faulty store are unknown outcomes, which may make a search long. Then another seed is faster.
const searchLimit = 20 * time.Second

// wrapped runs the transactions of a store with a modified transaction.
func wrapped(ctx context.Context, s storage.Store, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error, wrap func(storage.Tx) storage.Tx) error {
	return s.InTx(ctx, op, locks, func(ctx context.Context, tx storage.Tx) error { return fn(ctx, wrap(tx)) })
}

// staleTwin makes every second plan from free blocks that it read earlier. It then writes the parts of the plan that it can still write, so a delete
// may affect no row.
type staleTwin struct {
	storage.Store

	mu   sync.Mutex
	turn int
	read map[ipam.ID][]netip.Prefix
}

func (s *staleTwin) InTx(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
	return wrapped(ctx, s.Store, op, locks, fn, func(tx storage.Tx) storage.Tx { return staleTx{tx, s} })
}

type staleTx struct {
	storage.Tx
	twin *staleTwin
}

func (tx staleTx) GroupRead(ctx context.Context, pool storage.Container, reads freespace.Reads, q storage.GroupQuery) (storage.GroupFacts, error) {
	facts, err := tx.Tx.GroupRead(ctx, pool, reads, q)
	if err != nil {
		return facts, err
	}
	now, err := tx.free(ctx, pool)
	tx.twin.mu.Lock()
	defer tx.twin.mu.Unlock()
	before, some := tx.twin.read[pool.ID]
	onlyLengths := len(reads.Keys) == 0 // if releases are in the same transaction, an old list contradicts them, and the plan ends with an error
	if tx.twin.turn++; some && onlyLengths && tx.twin.turn%2 == 0 {
		facts.Free = before
		return facts, err
	}
	tx.twin.read[pool.ID] = now
	facts.Free = now
	return facts, err
}

func (tx staleTx) free(ctx context.Context, c storage.Container) ([]netip.Prefix, error) {
	return tx.FreeList(ctx, c, c.Block.Addr().BitLen(), netip.Prefix{}, 1000)
}

func (tx staleTx) Write(ctx context.Context, ch storage.Changes) error {
	for i, f := range ch.Free {
		now, err := tx.free(ctx, f.Container)
		if err != nil {
			return err
		}
		there := func(p netip.Prefix) bool { return slices.Contains(now, p) }
		ch.Free[i].Delete = slices.DeleteFunc(slices.Clone(f.Delete), func(p netip.Prefix) bool { return !there(p) })
		ch.Free[i].Insert = slices.DeleteFunc(slices.Clone(f.Insert), there)
		held, err := tx.AllocationListInPool(ctx, f.Container, f.Container.Block, netip.Addr{}, 1000)
		if err != nil {
			return err
		}
		ch.ClaimInsert = slices.DeleteFunc(slices.Clone(ch.ClaimInsert), func(c ipam.Claim) bool {
			return slices.ContainsFunc(held, func(h ipam.Allocation) bool { return h.Block.Addr() == c.Block.Addr() })
		})
		ch.ClaimDelete = slices.DeleteFunc(slices.Clone(ch.ClaimDelete), func(c ipam.Claim) bool {
			return !slices.ContainsFunc(held, func(h ipam.Allocation) bool { return h.ID == c.AllocationID })
		})
	}
	return tx.Tx.Write(ctx, ch)
}

// stingyTwin never sees the last free block of a pool. So it reports "exhausted" too early.
type stingyTwin struct{ storage.Store }

func (s stingyTwin) InTx(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
	return wrapped(ctx, s.Store, op, locks, fn, func(tx storage.Tx) storage.Tx { return stingyTx{tx} })
}

func (s stingyTwin) Stocks(ctx context.Context, containers []storage.Container) (map[ipam.ID]ipam.Stock, error) {
	stocks, err := s.Store.Stocks(ctx, containers)
	for _, stock := range stocks {
		var all int64
		for _, n := range stock.Free {
			all += n
		}
		if all == 1 {
			clear(stock.Free)
		}
	}
	return stocks, err
}

type stingyTx struct{ storage.Tx }

func (tx stingyTx) GroupRead(ctx context.Context, pool storage.Container, reads freespace.Reads, q storage.GroupQuery) (storage.GroupFacts, error) {
	facts, err := tx.Tx.GroupRead(ctx, pool, reads, q)
	if err != nil {
		return facts, err
	}
	if all, err := tx.FreeList(ctx, pool, pool.Block.Addr().BitLen(), netip.Prefix{}, 2); err != nil || len(all) == 1 {
		facts.Free = nil
		return facts, err
	}
	return facts, nil
}

// forgetfulTwin reports every fifth transaction as committed although it is not. A runner that ignores the error of a COMMIT has the same effect.
type forgetfulTwin struct {
	storage.Store

	mu   sync.Mutex
	turn int
}

func (s *forgetfulTwin) InTx(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
	s.mu.Lock()
	s.turn++
	drop := s.turn%5 == 0
	s.mu.Unlock()
	if drop {
		return s.DryRun(ctx, op, locks, fn)
	}
	return s.Store.InTx(ctx, op, locks, fn)
}
