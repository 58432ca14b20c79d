package lookup

import (
	"context"
	"errors"
	"net/netip"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// prefixEnd returns a text that sorts after every text with this prefix and before every greater text.
func prefixEnd(text string) string { return text + "\U0010FFFF" }

// runEach runs one statement for each argument list, all in one round trip. A single statement for all lists would be slower, because CockroachDB
// would read every row with the prefix.
func runEach[T any](ctx context.Context, r Reader, name string, scan pgx.RowToFunc[T], asks [][]any) (found []T, err error) {
	if len(asks) == 0 {
		return nil, nil
	}
	err = r.run(ctx, name, func(q Querier) error {
		found = nil
		b := &pgx.Batch{}
		for _, args := range asks {
			b.Queue(query.Get(name), args...)
		}
		results := q.SendBatch(ctx, b)
		for range asks {
			part, err := ReadRows(results, scan)
			if err != nil {
				return errors.Join(err, results.Close())
			}
			found = append(found, part...)
		}
		return results.Close()
	})
	return found, err
}

// inProjects returns the argument lists for a statement that runs once for each project.
func inProjects(projects []ipam.ID, rest ...any) (asks [][]any) {
	for _, id := range projects {
		asks = append(asks, append([]any{id}, rest...))
	}
	return asks
}

// inPlaces returns the argument lists for a statement that runs once for each project and region.
func (r Reader) inPlaces(projects []ipam.ID, rest ...any) (asks [][]any) {
	for _, region := range r.regions.Everywhere() {
		for _, args := range inProjects(projects, rest...) {
			asks = append(asks, append([]any{region}, args...))
		}
	}
	return asks
}

// PoolsBeginning implements storage.Reader.
func (r Reader) PoolsBeginning(ctx context.Context, projects []ipam.ID, text string, limit int) ([]ipam.Pool, error) {
	return runEach(ctx, r, "search_pools", rows.LeanPools.Scan, inProjects(projects, text, prefixEnd(text), limit))
}

// SpacesBeginning implements storage.Reader.
func (r Reader) SpacesBeginning(ctx context.Context, projects []ipam.ID, text string, limit int) ([]ipam.Space, error) {
	return runEach(ctx, r, "search_spaces", rows.Spaces.Scan, inProjects(projects, text, prefixEnd(text), limit))
}

// ClassesBeginning implements storage.Reader.
func (r Reader) ClassesBeginning(ctx context.Context, projects []ipam.ID, text string, limit int) ([]ipam.Class, error) {
	return runEach(ctx, r, "search_classes", rows.Classes.Scan, inProjects(projects, text, prefixEnd(text), limit))
}

// ClaimsBeginning implements storage.Reader.
func (r Reader) ClaimsBeginning(ctx context.Context, projects []ipam.ID, text string, limit int) ([]ipam.Allocation, error) {
	return runEach(ctx, r, "search_claims", allocationOfItsPool, r.inPlaces(projects, text, prefixEnd(text), limit))
}

// ConsumersBeginning implements storage.Reader.
func (r Reader) ConsumersBeginning(ctx context.Context, projects []ipam.ID, realm, text string, limit int) ([]ipam.Consumer, error) {
	return runEach(ctx, r, "search_consumers", rows.Consumers.Scan, r.inPlaces(projects, realm, text, prefixEnd(text), limit))
}

// PoolsAround implements storage.Reader.
func (r Reader) PoolsAround(ctx context.Context, projects []ipam.ID, candidates []netip.Prefix, limit int) ([]ipam.Pool, error) {
	bases, lengths := heldArrays(candidates)
	if projects == nil {
		return List(ctx, r, "search_pools_around_all", rows.LeanPools.Scan, bases, lengths, limit)
	}
	return List(ctx, r, "search_pools_around", rows.LeanPools.Scan, projects, bases, lengths, limit)
}
