package ipam

import (
	"errors"
	"fmt"
	"time"
)

// Error is the one error type of Carve. Callers see Message and Fields; the cause is logged and never sent. An error of another type is a bug, and
// the server returns it as CodeInternal.
type Error struct {
	Code       Code
	Message    string        // one public sentence: the problem and, if possible, a remedy
	Fields     []Field       // the request's invalid parts
	Figures    Figures       // numbers that a client program needs
	RetryAfter time.Duration // when a retry makes sense; zero: not stated
	cause      error
}

// Field names one invalid part in a request.
type Field struct {
	Pointer string // RFC 6901 JSON pointer into the body, or "query:limit", "header:If-Match", "path:project"
	Detail  string // one sentence
}

// Figures has the numbers and names of a refusal. The response omits unset fields.
type Figures struct {
	WantedPrefixLength      *int
	LargestFreePrefixLength *int
	AvailableAddresses      string // exact decimal
	PoolsTried              []string
	AllowedMin, AllowedMax  *int
	Claims, ChildPools      *int64
	Consumers               *int64 // consumers that use it
	Retained, Spaces        *int64 // like Claims and ChildPools: resources that block the request
	Fitting                 *int64 // how many claims in a batch fit before the first one that does not
	ConflictsWith           []string
	CurrentRevision         string

	Quota, Measure         string // project/name of the quota; addresses, claims or pools
	Limit, Used, Requested string // exact decimals, in the measure

	Class        string    // project/name of the class that caused the refusal
	MissingRoles []string  // scope roles that the class requires and the claim lacks
	CoolingDown  string    // exact decimal: addresses that are cooling down in the tried pools
	CooledDownAt time.Time // when the first block that is large enough will have cooled down
	CountedAt    time.Time // when AvailableAddresses and its companions were counted, if not for this refusal
	Pools        *int64    // pools that block the request
	Steps        []Step    // short explanation of the decision
}

// Step is one step in the resolution of a claim, with its outcome.
type Step struct {
	Kind    StepKind `json:"kind"`
	Name    string   `json:"name"` // project/name; only the project for a pool that the caller may not see
	Outcome Outcome  `json:"outcome"`
	Code    Code     `json:"code,omitempty"` // the refusal, if the step ended in one
	Detail  string   `json:"detail"`         // one sentence
}

// StepKind is the kind of a step.
type StepKind string

// The kinds of steps.
const (
	StepClass StepKind = "class"
	StepPool  StepKind = "pool"
	StepQuota StepKind = "quota"
	StepGrant StepKind = "grant"
)

// Outcome is the result of a step.
type Outcome string

// The outcomes. OutcomeSkipped: not considered further; OutcomeRefused: the reason for the claim's refusal.
const (
	OutcomeChosen  Outcome = "chosen"
	OutcomeAllowed Outcome = "allowed"
	OutcomeSkipped Outcome = "skipped"
	OutcomeRefused Outcome = "refused"
)

// ErrShed is the cause of a refusal by an overloaded server. It does not depend on the request. Thousands may occur per second, so the server counts
// them and does not log each one.
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

// At adds an invalid request part and returns the error.
func (e *Error) At(pointer, format string, args ...any) *Error {
	e.Fields = append(e.Fields, Field{Pointer: pointer, Detail: fmt.Sprintf(format, args...)})
	return e
}

// Because sets the internal cause and returns the error.
func (e *Error) Because(cause error) *Error {
	e.cause = cause
	return e
}

// Error implements error; it includes the internal cause and is for logs only.
func (e *Error) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("%s: %s (%v)", e.Code, e.Message, e.cause)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

// Unwrap returns the internal cause for errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.cause }

// CodeOf returns the code of an error: its own if it is (or wraps) an *Error, otherwise CodeInternal; "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}

// IsCode reports whether err is an *Error with that code.
func IsCode(err error, code Code) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == code
}
