package tenancy

import "context"

// Attempts limits how often a client's address may try credentials that are not known to be valid. An authenticator checks the limit before it does
// expensive work for such credentials, such as a look-up in the database. So guesses from one address cost the service limited work.
type Attempts interface {
	// Check returns an *ipam.Error with code rate_limited if no attempt is left. It uses up no attempt.
	Check() error
	// Reserve does the same as Check, and also reserves an attempt until the authentication's result is known. Only a failed authentication uses up
	// the attempt.
	Reserve() error
}

type attemptsKey struct{}

// WithAttempts stores a client address's remaining attempts in a request's context.
func WithAttempts(ctx context.Context, a Attempts) context.Context {
	return context.WithValue(ctx, attemptsKey{}, a)
}

// AttemptsOf returns the client address's attempts. If the context has none, they are unlimited.
func AttemptsOf(ctx context.Context) Attempts {
	if a, ok := ctx.Value(attemptsKey{}).(Attempts); ok {
		return a
	}
	return unlimited{}
}

type unlimited struct{}

func (unlimited) Check() error   { return nil }
func (unlimited) Reserve() error { return nil }
