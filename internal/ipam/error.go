package ipam

import (
	"errors"
	"fmt"
	"time"
)

// Error is the one error type of Carve. Message and Fields are written for the caller and leave the process;
// the cause is logged and never sent. An error that is not an *Error is a bug and is answered as CodeInternal.
type Error struct {
	Code       Code
	Message    string        // one public sentence that says what is wrong and, where it can, what would work
	Fields     []Field       // the offending places of the request
	Figures    Figures       // numbers a program needs to react
	RetryAfter time.Duration // when repeating makes sense; zero = not stated
	cause      error
}

// Field names one offending place of a request.
type Field struct {
	Pointer string // RFC 6901 JSON pointer into the body, or "query:limit", "header:If-Match", "path:project"
	Detail  string // one sentence
}

// Figures are the numbers and names that go with a refusal. Unset fields are left out of the answer.
type Figures struct {
	WantedPrefixLength      *int
	LargestFreePrefixLength *int
	AvailableAddresses      string // exact decimal
	PoolsTried              []string
	AllowedMin, AllowedMax  *int
	Claims, ChildPools      *int64
	Consumers               *int64 // that use it
	Retained, Spaces        *int64 // as Claims and ChildPools: what stands in the way
	Fitting                 *int64 // how many claims of a batch fit, before the one that does not
	ConflictsWith           []string
	CurrentRevision         string

	Quota, Measure         string // project/name of the quota; addresses, claims or pools
	Limit, Used, Requested string // exact decimals, of the measure

	Class        string    // project/name of the class that decided
	MissingRoles []string  // scope roles that the class asks for and the claim does not give
	CoolingDown  string    // exact decimal: addresses that are cooling down in the pools tried
	CooledDownAt time.Time // when the first block large enough will have cooled down
	CountedAt    time.Time // when AvailableAddresses and what goes with it were counted, if it was not for this refusal
	Pools        *int64    // how many pools stand in the way
	Steps        []Step    // how it was decided, in short
}

// Step is one thing that was considered while a claim was resolved, and what came of it.
type Step struct {
	Kind    StepKind `json:"kind"`
	Name    string   `json:"name"` // project/name; for a pool that the caller may not see: the project alone
	Outcome Outcome  `json:"outcome"`
	Code    Code     `json:"code,omitempty"` // of a step that ended in a refusal
	Detail  string   `json:"detail"`         // one sentence
}

// StepKind says what was considered.
type StepKind string

// The kinds of steps.
const (
	StepClass StepKind = "class"
	StepPool  StepKind = "pool"
	StepQuota StepKind = "quota"
	StepGrant StepKind = "grant"
)

// Outcome says what came of a step.
type Outcome string

// The outcomes. OutcomeSkipped: not looked at any further; OutcomeRefused: it is why the claim is refused.
const (
	OutcomeChosen  Outcome = "chosen"
	OutcomeAllowed Outcome = "allowed"
	OutcomeSkipped Outcome = "skipped"
	OutcomeRefused Outcome = "refused"
)

// ErrShed is the cause of a refusal of a server that has more to do than it can. It says nothing of the request, there may be thousands
// of them a second, and they are counted and not logged one by one.
var ErrShed = errors.New("shed")

// Errorf makes an error with a public sentence.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalid makes an invalid_argument error for one place of the request.
func Invalid(pointer, format string, args ...any) *Error {
	detail := fmt.Sprintf(format, args...)
	return &Error{
		Code:    CodeInvalidArgument,
		Message: "The request is not valid: " + pointer + " " + detail,
		Fields:  []Field{{Pointer: pointer, Detail: detail}},
	}
}

// At adds an offending place and returns the error.
func (e *Error) At(pointer, format string, args ...any) *Error {
	e.Fields = append(e.Fields, Field{Pointer: pointer, Detail: fmt.Sprintf(format, args...)})
	return e
}

// Because attaches the private cause and returns the error.
func (e *Error) Because(cause error) *Error {
	e.cause = cause
	return e
}

// Error implements error; it includes the private cause and is for logs only.
func (e *Error) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("%s: %s (%v)", e.Code, e.Message, e.cause)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

// Unwrap gives the private cause to errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.cause }

// CodeOf is the code of an error: its own if it is (or wraps) an *Error, otherwise CodeInternal; "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}

// IsCode reports whether err is an *Error of that code.
func IsCode(err error, code Code) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == code
}
