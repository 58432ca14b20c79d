package client

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Error is a call that has no answer to use. Within it is a [*Problem] when the server refused, or why there was no answer.
type Error struct {
	Method string
	Path   string
	// Status of the last answer; 0 when there was none.
	Status int
	// Attempts is how often the request was sent.
	Attempts int
	// RequestID names the last attempt in the server's log.
	RequestID string
	// RetryAfter is how long the server asked to wait, if it did.
	RetryAfter time.Duration
	// MayBeDone says that nobody knows whether the request was carried out. Repeat it with the same IdempotencyKey, or the
	// same name: it is carried out once. Without either, read first.
	MayBeDone bool
	// IdempotencyKey is the one that was sent with a POST.
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

// MayBeDone reports whether an error leaves open if the request was carried out.
func MayBeDone(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.MayBeDone
}

// ErrForeign is an answer that is not of the contract: a proxy's, or another server's.
var ErrForeign = errors.New("does not answer like a Carve server")

// foreign quotes the beginning of what was answered.
func foreign(resp *http.Response) error {
	const most = 200
	text := peek(resp)
	quoted := strings.ToValidUTF8(string(text[:min(len(text), most)]), "?")
	what := strings.TrimSpace(resp.Status + " " + resp.Header.Get("Content-Type"))
	return fmt.Errorf("%s %w (%s): %q", resp.Request.URL.Host, ErrForeign, what, quoted)
}
