package tenancy

import "context"

// Attempts limits how often a client's address may try credentials that are not known to be valid. An authenticator checks it before it works for
// such credentials (a look-up in the database, a fetch of keys). So guessing costs the service no more than the address is allowed.
type Attempts interface {
	// Check returns an *ipam.Error with code rate_limited if no attempt is left. It consumes none.
	Check() error
	// Reserve is Check, and it also takes an attempt until the outcome of the authentication is known. Only a failure consumes the attempt.
	Reserve() error
}

type attemptsKey struct{}

// WithAttempts sets the remaining attempts of the client's address in a request's context.
func WithAttempts(ctx context.Context, a Attempts) context.Context {
	return context.WithValue(ctx, attemptsKey{}, a)
}

// AttemptsOf returns the attempts of the request's address; unlimited if the context has none.
func AttemptsOf(ctx context.Context) Attempts {
	if a, ok := ctx.Value(attemptsKey{}).(Attempts); ok {
		return a
	}
	return unlimited{}
}

type unlimited struct{}

func (unlimited) Check() error   { return nil }
func (unlimited) Reserve() error { return nil }
