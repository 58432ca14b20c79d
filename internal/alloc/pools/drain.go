package pools

import (
	"context"
	"errors"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// DrainKeeper is the subject of the events that record the deletion of drained pools.
const DrainKeeper = "carve:drain"

// DeleteDrained deletes up to limit empty pools that are marked for deletion after their drain. If a pool has changed since it was read, its drain
// may have been cancelled, so DeleteDrained leaves it for the next run. If a pool fails, it continues with the others and returns the error at the
// end. Several servers may run it at once.
func (s *deleter) DeleteDrained(ctx context.Context, limit int) (deleted int, err error) {
	found, err := s.Store.DrainedPoolList(ctx, limit)
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, p := range found {
		switch err := s.deleteDrained(ctx, p); {
		case err == nil:
			deleted++
		case ipam.IsCode(err, ipam.CodeNotFound), ipam.IsCode(err, ipam.CodeInUse), ipam.IsCode(err, ipam.CodeAllocationRetained),
			ipam.IsCode(err, ipam.CodePreconditionFailed): // the pool is gone, in use or changed
		default:
			errs = append(errs, err)
		}
	}
	return deleted, errors.Join(errs...)
}

func (s *deleter) deleteDrained(ctx context.Context, p ipam.Pool) error {
	ctx, cancel := context.WithTimeout(ctx, usecase.GroupDeadline)
	defer cancel()
	event := KeeperEvent(p, s.Now())
	event.Subject = DrainKeeper
	key, as := storage.ProjectKey{ID: p.ProjectID, Name: p.Project}, usecase.Request{IfMatch: usecase.Match{Revisions: []string{p.Revision.String()}}}
	if p.MultiRegion() {
		return s.deleteRegional(ctx, key, p, as, event)
	}
	return s.deletePool(ctx, key, p, as, event)
}
