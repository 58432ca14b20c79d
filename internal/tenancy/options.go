package tenancy

import "context"

type withoutCacheKey struct{}

// WithoutCache makes authenticators read the caller's key and roles from the database instead of from their caches.
func WithoutCache(ctx context.Context) context.Context {
	return context.WithValue(ctx, withoutCacheKey{}, true)
}

func skipsCache(ctx context.Context) bool {
	now, _ := ctx.Value(withoutCacheKey{}).(bool)
	return now
}

type unrecordedKey struct{}

// WithoutRecord prevents the audit trail from recording a refused request. It is for a caller that already has too many such records.
func WithoutRecord(ctx context.Context) context.Context {
	return context.WithValue(ctx, unrecordedKey{}, true)
}

// Recorded reports whether the audit trail should record the request if it is refused.
func Recorded(ctx context.Context) bool {
	without, _ := ctx.Value(unrecordedKey{}).(bool)
	return !without
}
