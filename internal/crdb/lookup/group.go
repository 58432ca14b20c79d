package lookup

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Group reads the facts on which a group of claims and releases depends. It adds the version rows of the pool and of projects to fences. In
// facts.Pool it returns q.Pool with the current revision.
func Group(
	ctx context.Context, db Querier, region string, pool storage.Container, reads freespace.Reads, stock ipam.Stock, q storage.GroupQuery, projects []ipam.ID, fences Fences,
) (facts storage.GroupFacts, err error) {
	b := &pgx.Batch{}
	if len(projects) > 0 { // read first, so the facts below are never older than the versions
		b.Queue(query.Get("fence_list_here"), region, rows.IDs(projects))
	}
	b.Queue(query.Get("pool_state"), rows.ID(pool.ID), pool.Region)
	n := queueFree(b, pool, reads, stock)
	if len(q.Projects) > 0 {
		b.Queue(query.Get("quota_parts"), region, rows.IDs(q.Projects), q.Shard)
	}
	if len(q.Consumers) > 0 {
		b.Queue(query.Get("grant_consumers"), rows.ID(pool.ID), consumers(q.Consumers...))
	}
	if len(q.Classes) > 0 {
		names := []string{ipam.PlatformProject}
		for _, project := range q.Classes {
			names = append(names, project.Name)
		}
		b.Queue(query.Get("class_epochs"), names)
	}
	if q.Pool.Several() {
		b.Queue(query.Get("stock_epoch"), rows.ID(pool.ID), pool.Region)
	}
	results := db.SendBatch(ctx, b)
	if len(projects) > 0 {
		err = fences.take(results)
	}
	var state []poolState
	if err == nil {
		state, err = Rest(results, scanPoolState)
	}
	if err == nil && len(state) == 0 {
		err = errNoPool
	}
	if err == nil {
		facts.Pool = q.Pool
		facts.Pool.Revision, facts.Pool.EmptySince = state[0].revision, state[0].emptySince
		if !state[0].fence.Mark.IsZero() {
			fences[FenceKeyOf(pool)] = state[0].fence
		}
		err = groupFacts(results, n, q, partIn(region, q.Shard), &facts)
	}
	if errors.Is(err, errNoPool) {
		err = NotFound("Pool %s was not found.", pool.Pool)()
	}
	if err == nil && q.Pool.Several() {
		facts.Fenced, err = takeFence(results)
	}
	return facts, errors.Join(err, results.Close())
}

// takeFence reports whether the pool's rows in a region must not be used. That is so in two cases. Either the pool has no share in the region, or the
// rows and the record of the region's loans come from different times, as after a restore.
func takeFence(results pgx.BatchResults) (bool, error) {
	found, err := Rest(results, scanEpochs)
	if err != nil || len(found) == 0 {
		return len(found) == 0, err
	}
	return found[0].record != found[0].there, nil
}

var errNoPool = errors.New("no such pool")

// groupFacts reads the remaining results, in the order of their statements.
func groupFacts(
	results pgx.BatchResults, n int, q storage.GroupQuery, part func(pgx.CollectableRow) (storage.QuotaPart, error), facts *storage.GroupFacts,
) (err error) {
	if facts.Free, err = takeFree(results, n); err != nil {
		return err
	}
	if len(q.Projects) > 0 {
		if facts.Quotas, err = Rest(results, part); err != nil {
			return err
		}
	}
	if err := takeGranted(results, q, facts); err != nil {
		return err
	}
	if len(q.Classes) > 0 {
		facts.Epochs, facts.Platform, err = takeEpochs(results)
	}
	return err
}

func takeGranted(results pgx.BatchResults, q storage.GroupQuery, facts *storage.GroupFacts) error {
	if len(q.Consumers) == 0 {
		return nil
	}
	granted, err := Rest(results, scanText)
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

// poolState is the part of a cached pool that every transaction reads again.
type poolState struct {
	revision   ipam.ID
	emptySince time.Time
	fence      Fence // with the zero Mark if the pool has no version row in the region
}

func scanPoolState(row pgx.CollectableRow) (s poolState, err error) {
	var since *time.Time
	var mark *[16]byte
	var stock []byte
	if err = row.Scan((*[16]byte)(&s.revision), &since, &mark, &stock); err == nil && mark != nil {
		s.fence.Mark = *mark
		s.fence.Stock, err = rows.DecodeStock(stock)
	}
	s.emptySince = rows.TimeOf(since)
	return s, err
}

// Rest reads all rows of the next result in a batch.
func Rest[T any](results pgx.BatchResults, scan func(pgx.CollectableRow) (T, error)) ([]T, error) {
	answer, err := results.Query()
	if err != nil {
		return nil, err
	}
	return Collect(answer, scan)
}
