// Package exit defines the exit codes of the command line and the errors that have an exit code.
package exit

import (
	"errors"
	"fmt"
	"net/http"
)

// These are the exit codes. Their meaning never changes. docs/ipamctl.md repeats Codes, and a test compares the two.
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

// CodeOf returns the exit code of an error. An error without an exit code is "failed".
func CodeOf(err error) int {
	if err == nil {
		return OK
	}
	if e, ok := errors.AsType[exiter](err); ok {
		return e.ExitCode()
	}
	return Failed
}

// CodeOfStatus returns the exit code for the HTTP status of a refusal. It does not use the problem code, because a newer server may send a code that
// this build does not know.
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

// UsageError reports that the command line, or a file that it names, is not valid.
type UsageError string

// Error implements error.
func (e UsageError) Error() string { return string(e) }

// ExitCode returns the code of a usage error.
func (UsageError) ExitCode() int { return Usage }

// Usagef returns a [UsageError].
func Usagef(format string, args ...any) error { return UsageError(fmt.Sprintf(format, args...)) }

// Verdict ends a command that has already explained its result. It only sets the exit code.
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

// aboutError adds an object to an error. It is for commands that act on several objects.
type aboutError struct {
	error
	what string
}

// About adds the name of an object to an error. It is for commands that act on several objects.
func About(what string, err error) error { return &aboutError{err, what} }

func (e *aboutError) Error() string { return e.what + ": " + e.error.Error() }
func (e *aboutError) Unwrap() error { return e.error }
