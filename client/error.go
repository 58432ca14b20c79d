package client

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Error is a call's error. If the server refused the request, it wraps a [*Problem]. Otherwise it wraps the reason why there is no usable response.
type Error struct {
	Method string
	Path   string
	// Status is the last response's HTTP status, or 0 if there was none.
	Status int
	// Attempts is the number of times that the client sent the request.
	Attempts int
	// RequestID identifies the last attempt in the server's log.
	RequestID string
	// RetryAfter is the time that the server asked the client to wait. If the server asked for no pause, it is 0.
	RetryAfter time.Duration
	// MayBeDone is true if the client cannot know whether the server carried out the request. Repeat the call with the same IdempotencyKey or the
	// same name. The server then carries it out only once. A POST that takes no key is also safe to repeat. Before you repeat any other request, read
	// the object.
	MayBeDone bool
	// IdempotencyKey is the key that was sent with a POST.
	IdempotencyKey string

	Err error
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "carve: %s %s: %v", e.Method, e.Path, e.Err)
	if e.MayBeDone {
		b.WriteString("; it may have been carried out")
		if e.IdempotencyKey != "" {
			b.WriteString(": repeat it with Idempotency-Key " + e.IdempotencyKey)
		}
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// MayBeDone reports whether the server may have carried out the request of the failed call.
func MayBeDone(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.MayBeDone
}

// ErrForeign is the error for a response that does not follow the contract, for example from a proxy or another server.
var ErrForeign = errors.New("does not answer like a Carve server")

// foreign returns an [ErrForeign] that quotes the beginning of the response.
func foreign(resp *http.Response) error {
	const most = 200
	text := peek(resp)
	quoted := strings.ToValidUTF8(string(text[:min(len(text), most)]), "?")
	what := strings.TrimSpace(resp.Status + " " + resp.Header.Get("Content-Type"))
	return fmt.Errorf("%s %w (%s): %q", resp.Request.URL.Host, ErrForeign, what, quoted)
}
