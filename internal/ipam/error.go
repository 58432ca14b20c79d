package ipam

import (
	"errors"
	"fmt"
	"time"
)

// Error is the only error type that clients see. The response contains all fields except the cause. The server logs the cause and never sends it. An
// error with another type is a bug, and the server returns it as CodeInternal.
type Error struct {
	Code       Code
	Message    string        // public text: the problem and, if possible, a remedy
	Fields     []Field       // the request's invalid parts
	Figures    Figures       // numbers that a client program needs
	RetryAfter time.Duration // how long a client should wait before a retry; zero: not stated
	cause      error
}

// Field names one invalid part in a request.
type Field struct {
	Pointer string // JSON pointer (RFC 6901) into the body, or a name such as "query:limit", "header:If-Match" or "path:project"
	Detail  string // one sentence
}

// Figures has the numbers and names in a refusal. The response omits unset fields.
type Figures struct {
	WantedPrefixLength      *int
	LargestFreePrefixLength *int
	AvailableAddresses      string // exact decimal
	PoolsTried              []string
	AllowedMin, AllowedMax  *int
	Claims, ChildPools      *int64
	Consumers               *int64 // consumers that use the claim
	Retained, Spaces        *int64 // resources that block the request, as Claims and ChildPools do
	Fitting                 *int64 // number of claims in a batch that fit before the first claim that does not fit
	ConflictsWith           []string
	CurrentRevision         string

	Quota, Measure         string // Quota: project/name; Measure: addresses, claims or pools
	Limit, Used, Requested string // exact decimals, in units of Measure

	Class        string    // the class that caused the refusal, as project/name
	MissingRoles []string  // scope roles that the class requires and the claim lacks
	CoolingDown  string    // addresses in cool-down in the tried pools, as an exact decimal
	CooledDownAt time.Time // when the first block that is large enough ends its cool-down
	CountedAt    time.Time // when the server counted AvailableAddresses and the other counts, if it did not count for this refusal
	Pools        *int64    // pools that block the request
	Steps        []Step    // the decision's steps
}

// Step is one step in the decision about a claim, with its outcome.
type Step struct {
	Kind    StepKind `json:"kind"`
	Name    string   `json:"name"` // project/name; only the project for a pool that the caller may not see
	Outcome Outcome  `json:"outcome"`
	Code    Code     `json:"code,omitempty"` // the refusal's code; "": the step did not refuse
	Detail  string   `json:"detail"`         // one sentence
}

// StepKind is a step's kind.
type StepKind string

// The kinds.
const (
	StepClass StepKind = "class"
	StepPool  StepKind = "pool"
	StepQuota StepKind = "quota"
	StepGrant StepKind = "grant"
)

// Outcome is a step's result.
type Outcome string

// The outcomes. OutcomeSkipped means that the claim does not use this pool, class or grant. OutcomeRefused means that this step refuses the claim.
const (
	OutcomeChosen  Outcome = "chosen"
	OutcomeAllowed Outcome = "allowed"
	OutcomeSkipped Outcome = "skipped"
	OutcomeRefused Outcome = "refused"
)

// ErrShed is the cause if an overloaded server refuses a request. The refusal does not depend on the request. Thousands of such refusals may occur in
// one second, so the server counts them and does not log each one.
var ErrShed = errors.New("shed")

// Errorf makes an error with a public message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalid makes an invalid_argument error for one part in the request.
func Invalid(pointer, format string, args ...any) *Error {
	detail := fmt.Sprintf(format, args...)
	return &Error{
		Code:    CodeInvalidArgument,
		Message: "The request is not valid: " + pointer + " " + detail,
		Fields:  []Field{{Pointer: pointer, Detail: detail}},
	}
}

// At adds an invalid part, and returns the error.
func (e *Error) At(pointer, format string, args ...any) *Error {
	e.Fields = append(e.Fields, Field{Pointer: pointer, Detail: fmt.Sprintf(format, args...)})
	return e
}

// WithCause sets the internal cause and returns the error.
func (e *Error) WithCause(cause error) *Error {
	e.cause = cause
	return e
}

// Error implements error. The text includes the internal cause, so it is for logs only.
func (e *Error) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("%s: %s (%v)", e.Code, e.Message, e.cause)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

// Unwrap returns the internal cause for errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.cause }

// CodeOf returns an error's code. If err is not an *Error and wraps none, the code is CodeInternal. If err is nil, the code is "".
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}

// IsCode reports whether err is or wraps an *Error with that code.
func IsCode(err error, code Code) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == code
}
