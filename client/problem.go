package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// Error returns the problem's detail with its code and status.
func (p *Problem) Error() string {
	return fmt.Sprintf("%s (%s, %d)", p.Detail, p.Code, p.Status)
}

// Is lets [errors.Is] find a refusal by its code, for example errors.Is(err, client.ProblemCodePoolExhausted).
func (p *Problem) Is(target error) bool {
	code, ok := target.(ProblemCode)
	return ok && p.Code == code
}

// Error makes a code usable as the target of [errors.Is]. The constants ProblemCode... are the codes in this contract version. A later server may
// send other codes. The client keeps these codes unchanged.
func (e ProblemCode) Error() string { return string(e) }

// AsProblem returns the refusal in an error, if there is one.
func AsProblem(err error) (*Problem, bool) {
	return errors.AsType[*Problem](err)
}

// CodeOf returns the code of the refusal in an error. If the error is no refusal, the code is empty. Switch on the code:
//
//	switch client.CodeOf(err) {
//	case client.ProblemCodePoolExhausted, client.ProblemCodeExhaustedByCooldown:
//	}
func CodeOf(err error) ProblemCode {
	if p, ok := AsProblem(err); ok {
		return p.Code
	}
	return ""
}

// IsNotFound reports whether the object does not exist or the caller may not see it.
func IsNotFound(err error) bool { return CodeOf(err) == ProblemCodeNotFound }

// IsExhausted reports whether no free block is large enough now. It includes the case that large enough blocks are still cooling down.
func IsExhausted(err error) bool {
	code := CodeOf(err)
	return code == ProblemCodePoolExhausted || code == ProblemCodeExhaustedByCooldown
}

// IsConflict reports whether another client has changed the object since the caller read it. The caller should read the object again.
func IsConflict(err error) bool { return CodeOf(err) == ProblemCodePreconditionFailed }

const problemType = "application/problem+json"

func isProblem(resp *http.Response) bool { return hasType(resp, problemType) }

// readProblem reads a refusal. Carve sends each refusal as a problem document, so any other response is from another program.
func readProblem(resp *http.Response) (*Problem, bool) {
	if !isProblem(resp) {
		return nil, false
	}
	var p Problem
	err := json.Unmarshal(peek(resp), &p)
	return &p, err == nil && p.Code != ""
}
