package tenancy

import "context"

// Attempts is what a client's address may still try with credentials that nobody has seen to be valid. Whoever makes an
// authenticator work for such credentials (a look-up in the database, a fetch of keys) asks here first, so that guessing
// costs the service no more than the address is allowed.
type Attempts interface {
	// Check answers an *ipam.Error with code rate_limited when no attempt is left. It takes none.
	Check() error
	// Reserve is Check that also takes an attempt, until it is known how the request's authentication ended: only what ended
	// badly stays taken.
	Reserve() error
}

type attemptsKey struct{}

// WithAttempts puts into a request's context what its address may still try.
func WithAttempts(ctx context.Context, a Attempts) context.Context {
	return context.WithValue(ctx, attemptsKey{}, a)
}

// AttemptsOf is what the address of the request may still try; without limits, everything.
func AttemptsOf(ctx context.Context) Attempts {
	if a, ok := ctx.Value(attemptsKey{}).(Attempts); ok {
		return a
	}
	return unlimited{}
}

type unlimited struct{}

func (unlimited) Check() error   { return nil }
func (unlimited) Reserve() error { return nil }
