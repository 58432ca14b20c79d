package crdb

import (
	"context"
	"errors"
	"sync"

	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/ipam"
)

// incompatible records that the program has become too old for the database while it worked. The store changes nothing any more then.
type incompatible struct {
	once sync.Once
	done chan struct{} // closed when that happens
	why  error         // set before done is closed
}

// TooOld returns a channel that is closed when the database does not allow this program any more. WhyTooOld then returns the reason. From then on the
// store refuses every change.
func (s *Store) TooOld() <-chan struct{} { return s.tooOld.done }

// WhyTooOld returns schema.ErrTooOld with its figures, or nil while the program is allowed.
func (s *Store) WhyTooOld() error {
	select {
	case <-s.tooOld.done:
		return s.tooOld.why
	default:
		return nil
	}
}

// checkCompatible checks once, without a retry, whether the database allows this program.
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

// mayChange returns an error if the program is too old.
func (s *Store) mayChange() error {
	why := s.WhyTooOld()
	if why == nil {
		return nil
	}
	e := ipam.Errorf(ipam.CodeUnavailable, "This server is too old for its database and stops. Nothing was changed; repeat the request, and another server will serve it.").Because(why)
	e.RetryAfter = clockEvery
	return e
}
