package tenancy

import "context"

type nowKey struct{}

// WithNow asks authenticators to look up who the caller of ctx is, whatever they remember.
func WithNow(ctx context.Context) context.Context { return context.WithValue(ctx, nowKey{}, true) }

func wantsNow(ctx context.Context) bool {
	now, _ := ctx.Value(nowKey{}).(bool)
	return now
}

type unrecordedKey struct{}

// WithoutRecord says that a refusal of the request is not to be recorded: its caller has had enough of them recorded.
func WithoutRecord(ctx context.Context) context.Context {
	return context.WithValue(ctx, unrecordedKey{}, true)
}

// Recorded reports whether a refusal of the request is to be recorded.
func Recorded(ctx context.Context) bool {
	without, _ := ctx.Value(unrecordedKey{}).(bool)
	return !without
}
