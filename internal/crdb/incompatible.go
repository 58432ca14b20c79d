package crdb

import (
	"context"
	"errors"

	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/ipam"
)

// TooOld returns a channel that is closed when this program may no longer use the database. From then on the store refuses every change, and
// WhyTooOld returns the reason.
func (s *Store) TooOld() <-chan struct{} { return s.allowed.Done() }

// WhyTooOld returns schema.ErrTooOld with the versions, or nil while the program may use the database.
func (s *Store) WhyTooOld() error { return context.Cause(s.allowed) }

// checkCompatible asks the database once, without a retry, whether this program may use it.
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
		s.forbid(err)
	}
	return err
}

// mayChange returns an error if this program may no longer use the database.
func (s *Store) mayChange() error {
	reason := s.WhyTooOld()
	if reason == nil {
		return nil
	}
	e := ipam.Errorf(ipam.CodeUnavailable, "This server is too old for its database and stops. Nothing was changed; repeat the request, and another server will serve it.").WithCause(reason)
	e.RetryAfter = clockEvery
	return e
}
