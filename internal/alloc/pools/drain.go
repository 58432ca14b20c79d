package pools

import (
	"context"
	"errors"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// DrainKeeper is the subject that deletes drained pools when they become empty.
const DrainKeeper = "carve:drain"

// DeleteDrained deletes up to limit pools that are marked for deletion once drained and hold nothing, by ordinary deletion. It leaves a pool that has
// changed since it was read for the next run, because its drain may have been cancelled. Several servers may run it at once. It returns the errors
// for failed pools and continues with the others.
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
			ipam.IsCode(err, ipam.CodePreconditionFailed): // the pool is gone, or has changed
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
	if p.Several() {
		return s.deleteRegional(ctx, key, p, as, event)
	}
	return s.deletePool(ctx, key, p, as, event)
}
