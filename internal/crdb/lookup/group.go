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

// Group reads the facts on which a group of claims and releases depends. It adds the version rows for the pool and the projects to fences. facts.Pool
// is q.Pool with the current revision.
func Group(
	ctx context.Context, db Querier, region string, pool storage.Container, reads freespace.Reads, stock ipam.Stock, q storage.GroupQuery, projects []ipam.ID, fences Fences,
) (facts storage.GroupFacts, err error) {
	b := &pgx.Batch{}
	if len(projects) > 0 { // read first, so the facts below are never older than the versions
		b.Queue(query.Get("fence_list_here"), region, projects)
	}
	b.Queue(query.Get("pool_state"), pool.ID, pool.Region)
	n := queueFree(b, pool, reads, stock)
	if len(q.Projects) > 0 {
		b.Queue(query.Get("quota_parts"), region, q.Projects, q.Shard)
	}
	if len(q.Consumers) > 0 {
		b.Queue(query.Get("grant_consumers"), pool.ID, consumerNames(q.Consumers...))
	}
	if len(q.Classes) > 0 {
		names := []string{ipam.PlatformProject}
		for _, project := range q.Classes {
			names = append(names, project.Name)
		}
		b.Queue(query.Get("class_epochs"), names)
	}
	if q.Pool.MultiRegion() {
		b.Queue(query.Get("stock_epoch"), pool.ID, pool.Region)
	}
	results := db.SendBatch(ctx, b)
	facts.Pool = q.Pool
	if len(projects) > 0 {
		err = fences.collect(results.Query())
	}
	if err == nil {
		err = groupFacts(results, n, region, pool, q, fences, &facts)
	}
	return facts, errors.Join(err, results.Close())
}

// groupFacts reads the results after the projects' version rows, in statement order.
func groupFacts(results pgx.BatchResults, n int, region string, pool storage.Container, q storage.GroupQuery, fences Fences, facts *storage.GroupFacts) error {
	state, err := ReadRows(results, scanPoolState)
	if err != nil {
		return err
	}
	if len(state) == 0 {
		return NotFound("Pool %s was not found.", pool.Pool)()
	}
	facts.Pool.Revision, facts.Pool.EmptySince = state[0].revision, state[0].emptySince
	if !state[0].fence.Mark.IsZero() {
		fences[FenceKeyOf(pool)] = state[0].fence
	}
	if facts.Free, err = takeFree(results, n); err != nil {
		return err
	}
	if len(q.Projects) > 0 {
		if facts.Quotas, err = ReadRows(results, partIn(region, q.Shard)); err != nil {
			return err
		}
	}
	if err = takeGranted(results, q, facts); err == nil && len(q.Classes) > 0 {
		facts.Epochs, facts.Platform, err = takeEpochs(results)
	}
	if err != nil || !q.Pool.MultiRegion() {
		return err
	}
	// The pool's rows in the region must not be used in two cases. Either the pool has no share in the region, or the rows and the loan record come
	// from different times, which can happen after a restore.
	found, err := ReadRows(results, scanEpochs)
	facts.Fenced = err == nil && (len(found) == 0 || found[0].record != found[0].there)
	return err
}

func takeGranted(results pgx.BatchResults, q storage.GroupQuery, facts *storage.GroupFacts) error {
	if len(q.Consumers) == 0 {
		return nil
	}
	granted, err := ReadRows(results, pgx.RowTo[string])
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

// poolState contains the facts about a cached pool that every transaction reads again.
type poolState struct {
	revision   ipam.ID
	emptySince time.Time
	fence      Fence // with the zero Mark if the pool has no version row in the region
}

func scanPoolState(row pgx.CollectableRow) (s poolState, err error) {
	var since *time.Time
	var stock []byte
	if err = row.Scan(&s.revision, &since, &s.fence.Mark, &stock); err == nil && !s.fence.Mark.IsZero() {
		s.fence.Stock, err = rows.DecodeStock(stock)
	}
	if since != nil {
		s.emptySince = since.UTC()
	}
	return s, err
}

// ForEach reads all rows from a batch's next result. It scans each row into the variables in to, and then calls visit.
func ForEach(results pgx.BatchResults, to []any, visit func()) error {
	records, err := results.Query()
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(records, to, func() error { visit(); return nil })
	return err
}

// ReadRows reads all rows from a batch's next result.
func ReadRows[T any](results pgx.BatchResults, scan pgx.RowToFunc[T]) ([]T, error) {
	records, err := results.Query()
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(records, scan)
}
