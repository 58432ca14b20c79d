package tenancy

import (
	"context"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"github.com/carve-ipam/carve/internal/ipam"
)

// recent remembers what was read from the database, for as long as it may be believed: ttl, counted from before the read, so
// that it bounds how old the knowledge is and not how long it was kept.
//
// What was found and what was not are kept apart. Anybody can ask for things that do not exist, and must not push out by
// that what does.
type recent[V any] struct {
	clock   func() time.Time
	ttl     time.Duration
	found   *lru.Cache[string, reading[V]]
	missing *lru.Cache[string, time.Time]
	flights singleflight.Group
}

// reading is a value and when its read began.
type reading[V any] struct {
	value V
	at    time.Time
}

func newRecent[V any](clock func() time.Time, ttl time.Duration, size int) *recent[V] {
	r := &recent[V]{clock: clock, ttl: ttl}
	r.found, _ = lru.New[string, reading[V]](size) // fails for a size below 1 alone
	r.missing, _ = lru.New[string, time.Time](size)
	return r
}

// last is what was found when it was looked up last, however long ago that was.
func (r *recent[V]) last(key string) (V, bool) {
	got, ok := r.found.Get(key)
	return got.value, ok
}

// forget lets a key be one that was not found.
func (r *recent[V]) forget(key string) {
	r.found.Remove(key)
	r.missing.Add(key, r.clock())
}

// get answers what is known and fresh, or looks it up. At most one look-up of a key runs at a time, and whoever asks in the
// meantime waits for its end. It does not end with the request that began it, because others may wait for it.
//
// admit is asked once, by the request that begins the look-up and before it does. A context made by WithNow is served by a look-up of
// its own, which begins now.
func (r *recent[V]) get(ctx context.Context, key string, admit func() error, load loader[V]) (value V, found bool, err error) {
	if wantsNow(ctx) {
		got, err := r.read(ctx, key, admit, load)
		return got.value, got.found, err
	}
	for {
		if value, found, known := r.fresh(key); known {
			return value, found, nil
		}
		mine := false
		flight := r.flights.DoChan(key, func() (any, error) {
			mine = true
			return r.look(ctx, key, admit, load)
		})
		select {
		case <-ctx.Done():
			return value, false, ctx.Err()
		case end := <-flight:
			if !mine && ipam.IsCode(end.Err, ipam.CodeRateLimited) {
				continue // the limit of whoever asked first is not ours
			}
			if got, ok := end.Val.(answer[V]); ok && end.Err == nil {
				return got.value, got.found, nil
			}
			return value, false, end.Err
		}
	}
}

// loader reads one thing from the database; found is false when it does not exist.
type loader[V any] func(ctx context.Context) (value V, found bool, err error)

type answer[V any] struct {
	value V
	found bool
}

func (r *recent[V]) look(ctx context.Context, key string, admit func() error, load loader[V]) (answer[V], error) {
	if value, found, known := r.fresh(key); known { // somebody was faster
		return answer[V]{value, found}, nil
	}
	return r.read(ctx, key, admit, load)
}

// read looks up and remembers.
func (r *recent[V]) read(ctx context.Context, key string, admit func() error, load loader[V]) (answer[V], error) {
	if err := admit(); err != nil {
		return answer[V]{}, err
	}
	at := r.clock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.ttl)
	defer cancel()
	value, found, err := load(ctx)
	switch {
	case err != nil:
		return answer[V]{}, err
	case found:
		r.missing.Remove(key)
		r.found.Add(key, reading[V]{value, at})
	default:
		r.found.Remove(key)
		r.missing.Add(key, at)
	}
	return answer[V]{value, found}, nil
}

// fresh is what is known of a key without looking it up.
func (r *recent[V]) fresh(key string) (value V, found, known bool) {
	now := r.clock()
	if got, ok := r.found.Get(key); ok && now.Sub(got.at) < r.ttl {
		return got.value, true, true
	}
	if at, ok := r.missing.Get(key); ok && now.Sub(at) < r.ttl {
		return value, false, true
	}
	return value, false, false
}
