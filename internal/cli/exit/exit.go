// Package exit defines the exit codes of the command line, and errors with exit codes.
package exit

import (
	"errors"
	"fmt"
	"net/http"
)

// The exit codes. Their meaning never changes; docs/ipamctl.md repeats Codes, and a test keeps the two equal.
const (
	OK          = 0
	Failed      = 1
	Usage       = 2
	NotFound    = 3
	Conflict    = 4
	Unavailable = 5
)

// Codes explains each code in one sentence for authors of scripts.
var Codes = []struct {
	Code          int
	Name, Meaning string
}{
	{OK, "ok", "The command succeeded."},
	{Failed, "failed", "Permanently refused, or failed: not valid (400), not allowed (401, 403), can never fit (422), " +
		"a server error (500), a confirmation that was declined, or a finding of `audit`."},
	{Usage, "usage", "The command line, or a file that it names, is not valid; nothing was sent."},
	{NotFound, "not found", "A named object does not exist, or you may not see it (404)."},
	{Conflict, "conflict", "The current state does not allow it: taken, overlapping, in use, exhausted, over a quota, the last admin, " +
		"changed in the meantime (409, 412); or `apply`, `diff`, `import` or `shadow` found a difference or a row that it refused."},
	{Unavailable, "unavailable", "No response, or none now: no connection, timeout, interrupted, too many requests " +
		"(429, 502, 503, 504). A retry with the printed key is safe; after a delete, the error gives the next step."},
}

// exiter is an error with an exit code.
type exiter interface {
	error
	ExitCode() int
}

// CodeOf returns an error's code; an error without one is "failed".
func CodeOf(err error) int {
	if err == nil {
		return OK
	}
	if e, ok := errors.AsType[exiter](err); ok {
		return e.ExitCode()
	}
	return Failed
}

// CodeOfStatus returns a refusal's code by its HTTP status, so that a problem code this build does not know has one too.
func CodeOfStatus(status int) int {
	switch status {
	case http.StatusNotFound:
		return NotFound
	case http.StatusConflict, http.StatusPreconditionFailed:
		return Conflict
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return Unavailable
	default:
		return Failed
	}
}

// UsageError reports a command line, or a file that it names, that is not valid.
type UsageError string

// Error implements error.
func (e UsageError) Error() string { return string(e) }

// ExitCode returns the code of a usage error.
func (UsageError) ExitCode() int { return Usage }

// Usagef returns a [UsageError].
func Usagef(format string, args ...any) error { return UsageError(fmt.Sprintf(format, args...)) }

// Verdict ends a command that was already explained with its exit code alone.
type Verdict int

// Error implements error.
func (v Verdict) Error() string { return fmt.Sprintf("exit code %d", int(v)) }

// ExitCode returns the verdict.
func (v Verdict) ExitCode() int { return int(v) }

// ended is a Verdict with a reason.
type ended struct {
	Verdict
	why string
}

// Endf returns an error with an exit code and a reason.
func Endf(code int, format string, args ...any) error {
	return ended{Verdict(code), fmt.Sprintf(format, args...)}
}

func (e ended) Error() string { return e.why }

// aboutError adds the subject to an error about one of many things.
type aboutError struct {
	error
	what string
}

// About adds the subject to an error about one of many things.
func About(what string, err error) error { return &aboutError{err, what} }

func (e *aboutError) Error() string { return e.what + ": " + e.error.Error() }
func (e *aboutError) Unwrap() error { return e.error }
