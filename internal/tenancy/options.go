package tenancy

import "context"

type withoutCacheKey struct{}

// WithoutCache makes authenticators look up the caller of ctx, without their caches.
func WithoutCache(ctx context.Context) context.Context {
	return context.WithValue(ctx, withoutCacheKey{}, true)
}

func skipsCache(ctx context.Context) bool {
	now, _ := ctx.Value(withoutCacheKey{}).(bool)
	return now
}

type unrecordedKey struct{}

// WithoutRecord prevents the recording of a refusal, for a caller with too many recorded refusals.
func WithoutRecord(ctx context.Context) context.Context {
	return context.WithValue(ctx, unrecordedKey{}, true)
}

// Recorded reports whether a refusal of the request should be recorded.
func Recorded(ctx context.Context) bool {
	without, _ := ctx.Value(unrecordedKey{}).(bool)
	return !without
}
