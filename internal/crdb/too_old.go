package crdb

import (
	"context"
	"errors"
	"sync"

	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/ipam"
)

// standingDown is what becomes of a store whose program has become too old while it worked: it changes nothing any more.
type standingDown struct {
	once sync.Once
	done chan struct{} // closed then
	why  error         // set before
}

// TooOld is closed when the database does not allow this program to work on it any more; WhyTooOld says why then. What is asked of the store from then
// on, and would change something, is refused.
func (s *Store) TooOld() <-chan struct{} { return s.tooOld.done }

// WhyTooOld is schema.ErrTooOld with its figures, or nil while all is well.
func (s *Store) WhyTooOld() error {
	select {
	case <-s.tooOld.done:
		return s.tooOld.why
	default:
		return nil
	}
}

// checkCompatible looks whether the program may go on, once and without trying again.
func (s *Store) checkCompatible(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, clockLimit)
	defer cancel()
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	err = schema.CheckCompatible(ctx, c.Conn())
	if errors.Is(err, schema.ErrTooOld) {
		s.tooOld.once.Do(func() {
			s.tooOld.why = err
			close(s.tooOld.done)
		})
	}
	return err
}

// mayChange refuses changes by a program that is too old.
func (s *Store) mayChange() error {
	why := s.WhyTooOld()
	if why == nil {
		return nil
	}
	e := ipam.Errorf(ipam.CodeUnavailable, "This server is too old for its database and is being stopped. Nothing was changed; repeat the request, which another server will answer.").Because(why)
	e.RetryAfter = clockEvery
	return e
}
