package pools

import (
	"context"
	"errors"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// DrainKeeper is the subject that deletes pools when they have become empty.
const DrainKeeper = "carve:drain"

// DeleteDrained deletes up to limit pools that are drained to be deleted and in which nothing is held any more, by ordinary deletion. A pool that
// was changed since it was looked at is left for the next time: it may be drained no more. It can run on several servers at once, and what fails
// for one pool does not keep the others waiting.
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
			ipam.IsCode(err, ipam.CodePreconditionFailed): // it is gone, or not as it was
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
		return s.deleteServed(ctx, key, p, as, event)
	}
	return s.deletePool(ctx, key, p, as, event)
}
