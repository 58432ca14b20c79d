package storage

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/carve-ipam/carve/internal/tenancy"
)

// staleKey is where a context says that its reads may be stale, and is told of which moment they were.
type staleKey struct{}

// staleness is how reads are made for a context of Stale.
type staleness struct {
	at  atomic.Int64 // the earliest moment so far, in nanoseconds since 1970; 0: nothing was read
	off atomic.Bool  // not any more: the use case is one that writes
}

// Stale lets the reads of a context answer with what its region knows, which may be some seconds old, instead of waiting for others.
// Use cases that write are not touched by it: what they read is what was written last, always. Nor is what decides who may read.
func Stale(ctx context.Context) context.Context {
	return context.WithValue(ctx, staleKey{}, new(staleness))
}

// Strong is a context whose reads are of what was written last, whatever the other reads of the request are.
func Strong(ctx context.Context) context.Context {
	if reading(ctx) == nil {
		return ctx
	}
	return context.WithValue(ctx, staleKey{}, (*staleness)(nil))
}

// StrongFor takes back Stale for a use case that writes, for the rest of the request.
func StrongFor(ctx context.Context, action tenancy.Action) {
	if r := reading(ctx); r != nil && !action.Reads() {
		r.off.Store(true)
	}
}

// IsStale reports whether the reads of a context may be stale.
func IsStale(ctx context.Context) bool { return reading(ctx) != nil }

// ReadAt is the moment before which everything that was written is in what was read by a context of Stale: the earliest of its
// reads. It is zero when nothing was read, and for other contexts.
func ReadAt(ctx context.Context) time.Time {
	if r := reading(ctx); r != nil {
		if n := r.at.Load(); n != 0 {
			return time.Unix(0, n).UTC()
		}
	}
	return time.Time{}
}

// NoteReadAt is how a store says of which moment a read of a context of Stale was. Of several the earliest counts.
func NoteReadAt(ctx context.Context, moment time.Time) {
	r := reading(ctx)
	if r == nil {
		return
	}
	n := moment.UnixNano()
	for {
		was := r.at.Load()
		if was != 0 && was <= n || r.at.CompareAndSwap(was, n) {
			return
		}
	}
}

// reading is nil for a context that is not one of Stale, or not any more.
func reading(ctx context.Context) *staleness {
	r, _ := ctx.Value(staleKey{}).(*staleness)
	if r == nil || r.off.Load() {
		return nil
	}
	return r
}
