package tenancy

import (
	"context"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"github.com/carve-ipam/carve/internal/ipam"
)

// ttlCache caches database reads. An entry is valid for ttl after its read began. So the data is never older than ttl, even after a slow read.
//
// Found and missing keys have separate caches. Everyone can ask for missing keys, and such requests must not evict the keys that exist.
type ttlCache[V any] struct {
	clock   func() time.Time
	ttl     time.Duration
	found   *lru.Cache[string, reading[V]]
	missing *lru.Cache[string, time.Time]
	flights singleflight.Group
}

// reading is a value from the database, with the time when its read began.
type reading[V any] struct {
	value V
	at    time.Time
}

func newTTLCache[V any](clock func() time.Time, ttl time.Duration, size int) *ttlCache[V] {
	r := &ttlCache[V]{clock: clock, ttl: ttl}
	r.found, _ = lru.New[string, reading[V]](size) // fails only for a size below 1
	r.missing, _ = lru.New[string, time.Time](size)
	return r
}

// lastFound returns the last value that was found for a key, even if it has expired.
func (r *ttlCache[V]) lastFound(key string) (V, bool) {
	got, ok := r.found.Get(key)
	return got.value, ok
}

// markMissing records that a key is missing.
func (r *ttlCache[V]) markMissing(key string) {
	r.found.Remove(key)
	r.missing.Add(key, r.clock())
}

// get returns the cached value, or looks it up. At most one look-up for a key runs at a time, and concurrent callers wait for its result. A look-up
// continues after the end of the request that started it, because other callers may wait for the result.
//
// The request that starts a look-up first calls admit, once. A context from WithoutCache always starts a separate look-up.
func (r *ttlCache[V]) get(ctx context.Context, key string, admit func() error, load loader[V]) (value V, found bool, err error) {
	if skipsCache(ctx) {
		got, err := r.read(ctx, key, admit, load)
		return got.value, got.found, err
	}
	for {
		if value, found, known := r.fromCache(key); known {
			return value, found, nil
		}
		mine := false
		flight := r.flights.DoChan(key, func() (any, error) {
			mine = true
			if value, found, known := r.fromCache(key); known { // another request has looked it up meanwhile
				return lookupResult[V]{value, found}, nil
			}
			return r.read(ctx, key, admit, load)
		})
		select {
		case <-ctx.Done():
			return value, false, ctx.Err()
		case end := <-flight:
			if !mine && ipam.IsCode(end.Err, ipam.CodeRateLimited) {
				continue // the first caller was refused by its own limit, which does not apply here
			}
			if got, ok := end.Val.(lookupResult[V]); ok && end.Err == nil {
				return got.value, got.found, nil
			}
			return value, false, end.Err
		}
	}
}

// loader reads one value from the database. found is false if the value does not exist.
type loader[V any] func(ctx context.Context) (value V, found bool, err error)

type lookupResult[V any] struct {
	value V
	found bool
}

// read looks up a key and caches the result.
func (r *ttlCache[V]) read(ctx context.Context, key string, admit func() error, load loader[V]) (lookupResult[V], error) {
	if err := admit(); err != nil {
		return lookupResult[V]{}, err
	}
	at := r.clock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.ttl)
	defer cancel()
	value, found, err := load(ctx)
	switch {
	case err != nil:
		return lookupResult[V]{}, err
	case found:
		r.missing.Remove(key)
		r.found.Add(key, reading[V]{value, at})
	default:
		r.found.Remove(key)
		r.missing.Add(key, at)
	}
	return lookupResult[V]{value, found}, nil
}

// fromCache returns the cached result for a key. known is false if there is no result or it is too old.
func (r *ttlCache[V]) fromCache(key string) (value V, found, known bool) {
	now := r.clock()
	if got, ok := r.found.Get(key); ok && now.Sub(got.at) < r.ttl {
		return got.value, true, true
	}
	if at, ok := r.missing.Get(key); ok && now.Sub(at) < r.ttl {
		return value, false, true
	}
	return value, false, false
}
