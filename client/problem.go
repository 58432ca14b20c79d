package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
)

// Error is the sentence about this occurrence with its code: a refusal is an error.
func (p *Problem) Error() string {
	return fmt.Sprintf("%s (%s, %d)", p.Detail, p.Code, p.Status)
}

// Is lets [errors.Is] find a refusal by its code: errors.Is(err, client.ProblemCodePoolExhausted).
func (p *Problem) Is(target error) bool {
	code, ok := target.(ProblemCode)
	return ok && p.Code == code
}

// Error makes of a code something that [errors.Is] can look for. The codes that this version of the contract knows are the
// constants ProblemCode...; a later server may say others, which arrive as they are.
func (e ProblemCode) Error() string { return string(e) }

// AsProblem is the refusal in an error, if there is one.
func AsProblem(err error) (*Problem, bool) {
	return errors.AsType[*Problem](err)
}

// CodeOf is the code of the refusal in an error, or empty. Switch on it:
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

// IsNotFound reports whether something does not exist, as far as the caller may know.
func IsNotFound(err error) bool { return CodeOf(err) == ProblemCodeNotFound }

// IsExhausted reports whether there is no room now: nothing large enough is free, be it because of what cools down.
func IsExhausted(err error) bool {
	code := CodeOf(err)
	return code == ProblemCodePoolExhausted || code == ProblemCodeExhaustedByCooldown
}

// IsConflict reports whether somebody changed the thing since it was read: read it again.
func IsConflict(err error) bool { return CodeOf(err) == ProblemCodePreconditionFailed }

const problemType = "application/problem+json"

func isProblem(resp *http.Response) bool {
	mediaType, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return err == nil && mediaType == problemType
}

// readProblem reads a refusal. What is refused otherwise was not refused by Carve.
func readProblem(resp *http.Response) (*Problem, bool) {
	if !isProblem(resp) {
		return nil, false
	}
	var p Problem
	err := json.Unmarshal(peek(resp), &p)
	return &p, err == nil && p.Code != ""
}
