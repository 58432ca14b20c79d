package crdb

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/ipam"
)

// GroupRead implements alloc.Tx.
func (t *tx) GroupRead(ctx context.Context, pool alloc.Container, reads space.Reads, q alloc.GroupQuery) (alloc.GroupFacts, error) {
	t.conn.lock(pool.ID)
	b := &pgx.Batch{}
	b.Queue(query.Get("pool_state"), uuid(pool.ID))
	n := queueFree(b, pool, reads)
	if len(q.Projects) > 0 {
		b.Queue(query.Get("quota_parts"), t.region, uuids(q.Projects), q.Shard)
	}
	if len(q.Consumers) > 0 {
		b.Queue(query.Get("grant_consumers"), uuid(pool.ID), consumers(q.Consumers...))
	}
	if len(q.Classes) > 0 {
		b.Queue(query.Get("class_epochs"), append(slices.Clone(q.Classes), ipam.PlatformProject))
	}
	results := t.conn.SendBatch(ctx, b)
	var facts alloc.GroupFacts
	err := groupFacts(results, n, q, &facts)
	if errors.Is(err, errNoPool) {
		err = notFound("Pool %s was not found.", pool.Pool)()
	}
	if err = errors.Join(err, results.Close()); err != nil || facts.Pool.Revision == q.Pool.Revision {
		return facts, err
	}
	facts.Pool, err = t.PoolGetByID(ctx, pool.ID)
	return facts, err
}

var errNoPool = errors.New("no such pool")

// groupFacts takes the results in the order in which they were asked for.
func groupFacts(results pgx.BatchResults, n int, q alloc.GroupQuery, facts *alloc.GroupFacts) error {
	state, err := rest(results, scanPoolState)
	if err != nil {
		return err
	}
	if len(state) == 0 {
		return errNoPool
	}
	facts.Pool = q.Pool
	facts.Pool.Revision, facts.Pool.EmptySince = state[0].revision, state[0].emptySince
	if facts.Free, err = takeFree(results, n); err != nil {
		return err
	}
	if len(q.Projects) > 0 {
		if facts.Quotas, err = rest(results, scanPart); err != nil {
			return err
		}
	}
	if err := takeGranted(results, q, facts); err != nil {
		return err
	}
	if len(q.Classes) > 0 {
		facts.Epochs, err = takeEpochs(results)
	}
	return err
}

func takeGranted(results pgx.BatchResults, q alloc.GroupQuery, facts *alloc.GroupFacts) error {
	if len(q.Consumers) == 0 {
		return nil
	}
	granted, err := rest(results, scanText)
	facts.Granted = make(map[string]bool, len(q.Consumers))
	for _, g := range granted {
		if g != ipam.Everybody {
			facts.Granted[g] = true
			continue
		}
		for _, c := range q.Consumers {
			facts.Granted[c] = true
		}
	}
	return err
}

// poolState is what has to be read of a pool that is known.
type poolState struct {
	revision   ipam.ID
	emptySince time.Time
}

func scanPoolState(row pgx.Row) (s poolState, err error) {
	var since *time.Time
	err = row.Scan((*[16]byte)(&s.revision), &since)
	s.emptySince = sometime(since)
	return s, err
}

// rest reads all rows of the next result of a batch.
func rest[T any](results pgx.BatchResults, scan func(pgx.Row) (T, error)) ([]T, error) {
	rows, err := results.Query()
	if err != nil {
		return nil, err
	}
	return collect(rows, scan)
}
