package cli

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"
)

// The exit codes. Their meaning never changes; docs/ipamctl.md repeats exitCodes, and a test keeps the two equal.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitConflict    = 4
	exitUnavailable = 5
)

// exitCodes say what each code means, in one sentence for people who write scripts.
var exitCodes = []struct {
	code          int
	name, meaning string
}{
	{exitOK, "ok", "It was done."},
	{exitFailed, "failed", "Refused for good, or failed: not valid (400), not allowed (401, 403), would never fit (422), " +
		"a fault of the server (500), or `audit` found something wrong."},
	{exitUsage, "usage", "The command line or a file it names is not valid; nothing was sent."},
	{exitNotFound, "not found", "A thing that was named does not exist, or may not be seen (404)."},
	{exitConflict, "conflict", "The state says no: taken, overlapping, in use, exhausted, over a quota, the last admin, " +
		"changed meanwhile (409, 412), or `apply` found something that differs from the plan."},
	{exitUnavailable, "unavailable", "No answer, or not now: no connection, out of time, interrupted, too many requests " +
		"(429, 502, 503, 504). Repeating is safe, with the key that was printed; after a delete it says what to look at first."},
}

// exiter is an error that knows its exit code.
type exiter interface {
	error
	exitCode() int
}

// exitCodeOf is the code of an error; what does not say is "failed".
func exitCodeOf(err error) int {
	if err == nil {
		return exitOK
	}
	if e, ok := errors.AsType[exiter](err); ok {
		return e.exitCode()
	}
	return exitFailed
}

// exitCodeOfStatus is the code of a refusal by its HTTP status, so that a problem code this build does not know has one too.
func exitCodeOfStatus(status int) int {
	switch status {
	case http.StatusNotFound:
		return exitNotFound
	case http.StatusConflict, http.StatusPreconditionFailed:
		return exitConflict
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return exitUnavailable
	default:
		return exitFailed
	}
}

// usageError is a command line, or a file it names, that cannot be carried out as it is.
type usageError string

func (e usageError) Error() string { return string(e) }
func (usageError) exitCode() int   { return exitUsage }

func usagef(format string, args ...any) error { return usageError(fmt.Sprintf(format, args...)) }

// verdict is an end that was explained already: the exit code alone is left to say.
type verdict int

func (v verdict) Error() string { return fmt.Sprintf("exit code %d", int(v)) }
func (v verdict) exitCode() int { return int(v) }

// exitCodesTopic is `ipamctl help exit-codes`: a command that cannot run is a help topic to cobra.
func exitCodesTopic() *cobra.Command {
	var text strings.Builder
	text.WriteString("What the exit code of ipamctl says:\n")
	for _, c := range exitCodes {
		fmt.Fprintf(&text, "\n  %d  %-12s %s", c.code, c.name, wrapped(c.meaning, 80, "\n"+strings.Repeat(" ", 18)))
	}
	return &cobra.Command{Use: "exit-codes", Short: "What the exit codes mean", Long: text.String()}
}

// aboutError says which of many things an error is about.
type aboutError struct {
	error
	what string
}

func about(what string, err error) error { return &aboutError{err, what} }

func (e *aboutError) Error() string { return e.what + ": " + e.error.Error() }
func (e *aboutError) Unwrap() error { return e.error }

// wrapped breaks a sentence into lines of so many characters, with a text between them.
func wrapped(sentence string, width int, between string) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(sentence) {
		switch {
		case i == 0:
		case column+1+len(word) > width:
			b.WriteString(between)
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}
