package regions

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// borrow makes room for a block of length need in the region that a pool is drawn from: from its home, or by way of that from the other regions. ErrNoRoom: no
// region had room. nil: there was room a moment ago. Those who want the same at once are served by one.
//
// It has its own time: a loan serves others than the first to ask.
func (s *Regions) borrow(ctx context.Context, p ipam.Pool, need int) error {
	done := s.borrowing.DoChan(fmt.Sprintf("%s %s %d", p.UID, p.Place(), need), func() (_ any, err error) {
		defer func() {
			if r := recover(); r != nil { // the arithmetic panics rather than lose address space; here that would end the process
				err = ipam.Errorf(ipam.CodeInternal, "The request could not be served; nothing was changed.").Because(fmt.Errorf("panic in borrow: %v\n%s", r, debug.Stack()))
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
		// It may have looked before this one was asked, and a block has come free since.
		if there, err := s.lookEverywhere(ctx, p, need); err != nil || !there.nothing() {
			return err
		}
		return ErrNoRoom
	case <-ctx.Done():
		return storage.TurnNeverCame(ctx)
	}
}

func (s *Regions) borrowAlone(ctx context.Context, p ipam.Pool, need int) error {
	_, err := usecase.Rounds(func(int) (none struct{}, again bool, err error) {
		if p.At != "" {
			if lent, err := s.lend(ctx, p, p.At, need, false); err != nil || lent {
				return none, false, err
			}
		}
		there, err := s.lookEverywhere(ctx, p, need)
		switch {
		case err != nil:
			return none, false, err
		case there.regions[p.Place()]:
			return none, false, nil
		case there.nothing():
			return none, false, ErrNoRoom
		case there.regions[p.Region]:
			return none, true, nil // there is room at home by now
		}
		if err := s.bringFrom(ctx, p, there, need); err != nil {
			return none, false, err
		}
		return none, true, nil
	})
	return err
}

// Borrowed is borrow whose answer is whether there is room now.
func (s *Regions) Borrowed(ctx context.Context, p ipam.Pool, bits int) (bool, error) {
	err := s.borrow(ctx, p, bits)
	if errors.Is(err, ErrNoRoom) {
		return false, nil
	}
	return err == nil, err
}

// bringFrom recalls from a region that has room, or all the loans that keep a free block apart.
func (s *Regions) bringFrom(ctx context.Context, p ipam.Pool, there everywhere, need int) error {
	var closed error
	for r := range there.regions {
		if r == p.Region {
			continue
		}
		_, err := s.recall(ctx, p, r, sparing(need))
		if !IsFence(err) {
			return err
		}
		closed = err // another region may have room
	}
	if closed != nil {
		return closed
	}
	for _, l := range there.apart {
		if _, err := s.recall(ctx, p, l.Region, thisVery(l.Block)); err != nil {
			return err
		}
	}
	return nil
}
