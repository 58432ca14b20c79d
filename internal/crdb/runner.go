package crdb

import (
	"context"
	"errors"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/crdb/outcome"
	"github.com/carve-ipam/carve/internal/crdb/write"
	"github.com/carve-ipam/carve/internal/ipam"
)

// InTx implements storage.Store.
func (s *Store) InTx(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
	return s.transact(ctx, op, locks, false, fn)
}

// DryRun implements storage.Store.
func (s *Store) DryRun(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
	return s.transact(ctx, op, locks, true, fn)
}

func (s *Store) transact(ctx context.Context, op string, locks storage.Locks, dry bool, fn func(context.Context, storage.Tx) error) error {
	number := 0
	var last *tx
	once := func(ctx context.Context) error {
		leave, err := enter(ctx, s.shares.changing)
		if err != nil {
			return err
		}
		defer leave()
		cn, release, err := s.acquire(ctx, dry)
		if err != nil {
			return err
		}
		defer release()
		if locks.Any() && s.engine.usesLocks() {
			cn.locks = newLockSet(locks)
		}
		err = s.engine.attempt(ctx, cn, dry, func(ctx context.Context) error {
			t := newTx(s, cn, number, dry)
			last = t
			number++ // also counts the engine's restarts inside the transaction
			if len(locks.Busy) > 0 && cn.locks == nil && !dry {
				if err := lookup.Lock(ctx, cn, locks.Busy); err != nil {
					return outcome.OfClosure(err, cn.pool.Conn())
				}
			}
			return outcome.OfClosure(fn(ctx, t), cn.pool.Conn())
		})
		if cn.locks != nil && err != nil {
			if occupied := cn.locks.busyError(); occupied != nil {
				return outcome.OfClosure(occupied, cn.pool.Conn())
			}
		}
		return err
	}
	err := s.repeat(ctx, op, false, func(ctx context.Context) error {
		err := once(ctx)
		if u, ok := errors.AsType[*storage.RegionNotRecorded](err); ok && !locks.TryShared { // happens at most once for each project and region
			for _, project := range u.Projects {
				if err := s.RecordRegion(ctx, project, u.Region); err != nil {
					return err
				}
			}
			return write.ErrStale
		}
		return s.conflictOf(ctx, err)
	})
	if err == nil && !dry && last != nil {
		last.fill.publish(last)
	}
	return err
}

// Await implements storage.Store.
func (s *Store) Await(ctx context.Context, id ipam.ID) error {
	return s.DryRun(ctx, "lock_await", storage.Locks{Shared: []ipam.ID{id}}, func(ctx context.Context, t storage.Tx) error {
		return t.(*tx).conn.begin(ctx) //nolint:errcheck,forcetypeassert // DryRun passes a *tx
	})
}

// conflictOf replaces a database error about taken names or keys with an error that lists them. It returns any other error unchanged.
func (s *Store) conflictOf(ctx context.Context, err error) error {
	if taken, ok := errors.AsType[*write.NamesTaken](err); ok {
		return s.whichNames(ctx, taken)
	}
	if taken, ok := errors.AsType[*write.KeysTaken](err); ok {
		return s.whichKeys(ctx, taken)
	}
	return err
}

// whichNames finds the claim names that made a transaction fail. The transaction is rolled back already, so the other owner may have released the
// name since. Then whichNames returns ErrStale, and the transaction is retried.
func (s *Store) whichNames(ctx context.Context, t *write.NamesTaken) error {
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	taken, _, err := lookup.Taken(ctx, s.inAttempt(ctx, c), t.Region, t.Names, nil, nil, nil)
	if err != nil {
		return err
	}
	conflict := t.Besides
	for _, name := range t.Names {
		if taken[name] && !slices.Contains(conflict.ClaimRefs, name) {
			conflict.ClaimRefs = append(conflict.ClaimRefs, name)
		}
	}
	switch {
	case conflict.Found():
		return &conflict
	case t.ByName():
		return write.ErrStale
	default:
		return t
	}
}

// whichKeys finds the idempotency keys that prevented a transaction from storing its responses. It also deletes the expired responses under these
// keys. The transaction is rolled back already. If no unexpired response exists, whichKeys returns ErrStale, and the transaction is retried.
func (s *Store) whichKeys(ctx context.Context, t *write.KeysTaken) error {
	keys := make([]storage.NameRef, len(t.StoredResponses))
	for i, a := range t.StoredResponses {
		keys[i] = storage.NameRef{ProjectID: a.ProjectID, Name: a.Key}
	}
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	expires, err := lookup.Expiries(ctx, s.inAttempt(ctx, c), s.region, keys)
	c.Release()
	if err != nil {
		return err
	}
	var conflict storage.Conflict
	var expired []storage.NameRef
	now := t.StoredResponses[0].CreatedAt
	for _, key := range keys {
		switch at, there := expires[key]; {
		case !there:
		case at.After(now):
			conflict.IdempotencyKeys = append(conflict.IdempotencyKeys, key)
		default:
			expired = append(expired, key)
		}
	}
	if conflict.Found() {
		return &conflict
	}
	if len(expired) > 0 {
		if err := s.forget(ctx, expired, now); err != nil {
			return err
		}
	}
	return write.ErrStale
}

// acquire takes a connection for a transaction. A transaction that writes first takes a slot for a writer. If dry is true, the transaction writes
// nothing and needs no slot.
func (s *Store) acquire(ctx context.Context, dry bool) (_ *conn, release func(), err error) {
	freeSlot := func() {}
	if !dry {
		if err := s.writers.Enter(ctx); err != nil {
			return nil, nil, err
		}
		freeSlot = s.writers.Leave
	}
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		freeSlot()
		return nil, nil, err
	}
	cn := &conn{pool: c, writers: s.writers}
	return cn, func() { cn.release(freeSlot) }, nil
}

// read runs reads outside a transaction. If ctx has a connection for its reads (withReads), it uses that connection. A retry of a read is always
// safe.
func (s *Store) read(ctx context.Context, op string, fn func(lookup.Querier) error) error {
	if run, ok := readsOf(ctx); ok {
		return run(ctx, op, fn)
	}
	return s.readNow(ctx, op, fn)
}

func (s *Store) readNow(ctx context.Context, op string, fn func(lookup.Querier) error) error {
	return s.repeat(ctx, op, true, func(ctx context.Context) error {
		leave, err := enter(ctx, s.shares.reading)
		if err != nil {
			return err
		}
		defer leave()
		c, err := s.pool.Acquire(ctx)
		if err != nil {
			return err
		}
		defer c.Release()
		return outcome.OfClosure(fn(s.inAttempt(ctx, c)), c.Conn())
	})
}

// repeat runs attempts until one commits, is refused or has an unknown outcome. It also ends when no further attempt is allowed. If read is true, no
// attempt changes anything.
func (s *Store) repeat(ctx context.Context, op string, read bool, attempt func(context.Context) error) error {
	for n := 0; ; n++ {
		if !read {
			if err := s.mayChange(); err != nil {
				return err
			}
		}
		end, state, err := s.try(ctx, op, n, read, attempt)
		s.watch(Attempt{Op: op, Number: n, End: end.String(), SQLState: state})
		switch end {
		case outcome.Committed:
			return nil
		case outcome.Refused:
			return outcome.Refusal(ctx, op, err)
		case outcome.Indeterminate:
			return s.outcomeUnknown(ctx, op, n, state, err)
		case outcome.Retry, outcome.RetrySlowly:
			if n+1 >= outcome.MaxAttempts || !outcome.Pause(ctx, n, end) {
				s.log.WarnContext(ctx, "gave up a transaction", "op", op, "attempts", n+1, "sqlstate", state, "error", err)
				return outcome.GaveUp(ctx, end, err)
			}
		}
	}
}

// outcomeUnknown logs a COMMIT that had no definite reply, and returns the error for the caller.
func (s *Store) outcomeUnknown(ctx context.Context, op string, n int, state string, err error) error {
	s.log.WarnContext(ctx, "outcome of a commit is unknown", "op", op, "attempt", n, "sqlstate", state, "error", err)
	return ipam.Errorf(ipam.CodeOutcomeUnknown, "The database did not confirm whether the change was made.").WithCause(err)
}
