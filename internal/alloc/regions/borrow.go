package regions

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"golang.org/x/sync/singleflight"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// borrower moves free blocks to a region that needs them, and finds the region that holds a block.
type borrower struct {
	*mover

	borrowing singleflight.Group // by pool, region and prefix length
}

// borrow makes room for a block with prefix length need in the region where the pool is used. It moves a block from the pool's home region to that
// region. If the block is in another region, it moves through the home region. If no region has room, borrow returns ErrNoRoom. If the region already
// has room, it returns nil.
//
// Concurrent callers with the same need share one call. The shared call has its own deadline, because it serves all these callers.
func (s *borrower) borrow(ctx context.Context, p ipam.Pool, need int) error {
	done := s.borrowing.DoChan(fmt.Sprintf("%s %s %d", p.UID, p.Place(), need), func() (_ any, err error) {
		defer func() {
			if r := recover(); r != nil { // the arithmetic panics before it loses address space; an unhandled panic in this goroutine would end the process
				err = ipam.Errorf(ipam.CodeInternal, "The request could not be served; nothing was changed.").WithCause(fmt.Errorf("panic in borrow: %v\n%s", r, debug.Stack()))
			}
		}()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), usecase.GroupDeadline)
		defer cancel()
		return nil, s.borrowAlone(ctx, p, need)
	})
	select {
	case r := <-done:
		if !r.Shared || !errors.Is(r.Err, ErrNoRoom) {
			return r.Err
		}
		// The shared call may have read the blocks before this caller began, and a block may have become free since.
		if there, err := s.findRoom(ctx, p, need); err != nil || !there.none() {
			return err
		}
		return ErrNoRoom
	case <-ctx.Done():
		return storage.LockTimeout(ctx)
	}
}

func (s *borrower) borrowAlone(ctx context.Context, p ipam.Pool, need int) error {
	_, err := usecase.Rounds(func(int) (none struct{}, again bool, err error) {
		if p.UsedIn != "" {
			if lent, err := s.lend(ctx, p, p.UsedIn, need, false); err != nil || lent {
				return none, false, err
			}
		}
		there, err := s.findRoom(ctx, p, need)
		switch {
		case err != nil:
			return none, false, err
		case there.regions[p.Place()]:
			return none, false, nil
		case there.none():
			return none, false, ErrNoRoom
		case there.regions[p.Region]:
			return none, true, nil // the home region has room by now
		}
		if err := s.recallFrom(ctx, p, there, need); err != nil {
			return none, false, err
		}
		return none, true, nil
	})
	return err
}

// Borrowed calls borrow, and reports whether the region has room now.
func (s *borrower) Borrowed(ctx context.Context, p ipam.Pool, bits int) (bool, error) {
	err := s.borrow(ctx, p, bits)
	if errors.Is(err, ErrNoRoom) {
		return false, nil
	}
	return err == nil, err
}

// recallFrom recalls a block from a region that has room. If there is no such region, it recalls all loans that split a free block.
func (s *borrower) recallFrom(ctx context.Context, p ipam.Pool, there regionalRoom, need int) error {
	var closed error
	for r := range there.regions {
		if r == p.Region {
			continue
		}
		_, err := s.recall(ctx, p, r, halfOfLargest(need))
		if !IsFence(err) {
			return err
		}
		closed = err // another region may have room
	}
	if closed != nil {
		return closed
	}
	for _, l := range there.split {
		if _, err := s.recall(ctx, p, l.Region, exactBlock(l.Block)); err != nil {
			return err
		}
	}
	return nil
}
