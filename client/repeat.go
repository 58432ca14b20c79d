package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Repeater sends a request again where that is safe and may help: what [New] puts under its calls, for whoever uses the bare
// [Client]. It implements [HttpRequestDoer]. Answers are read to their end before they are handed on.
type Repeater struct {
	Next   HttpRequestDoer
	Policy RetryPolicy
}

// LostError is a call that ended without an answer.
type LostError struct {
	Err       error // of the last attempt
	MayBeDone bool  // it may have been carried out
}

func (e *LostError) Error() string { return e.Err.Error() }
func (e *LostError) Unwrap() error { return e.Err }

// Do sends a request, and repeats it as the policy says. Its errors are of type [*LostError].
func (r Repeater) Do(req *http.Request) (*http.Response, error) {
	resp, end := r.do(req)
	if end.err != nil {
		return nil, &LostError{Err: end.err, MayBeDone: end.mayBeDone}
	}
	return resp, nil
}

// ending is what became of a call.
type ending struct {
	err       error // no answer
	mayBeDone bool  // an attempt may have been carried out whose answer is not known
	attempts  int
}

func (r Repeater) do(req *http.Request) (*http.Response, ending) {
	end := ending{}
	for {
		end.attempts++
		var resp *http.Response
		resp, end.err = r.attempt(req)
		if end.mayBeDone && removed(req, resp) {
			return gone(resp), ending{attempts: end.attempts}
		}
		reason, again := worthRepeating(req.Context(), resp, end.err)
		pause, bounded := r.Policy.pause(end.attempts, resp)
		end.mayBeDone = stillOpen(end.mayBeDone, req, resp, end.err)
		if !again || !bounded || end.attempts >= r.Policy.Attempts || !repeatable(req) || !timeFor(req.Context(), pause) {
			return resp, end
		}
		if end.mayBeDone && !safeTwice(req) {
			return resp, end
		}
		if r.Policy.OnRepeat != nil {
			r.Policy.OnRepeat(Repeat{Request: req, Reason: reason, Attempt: end.attempts, Pause: pause})
		}
		if err := r.Policy.wait(req.Context(), pause); err != nil {
			end.err = err
			return nil, end
		}
		if err := rewind(req); err != nil {
			end.err = err
			return nil, end
		}
	}
}

// largestAnswer is more than any answer of the contract.
const largestAnswer = 64 << 20

// attempt sends a request once and reads its answer to the end: one that breaks off is none.
func (r Repeater) attempt(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if r.Policy.AttemptTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.Policy.AttemptTimeout)
		defer cancel()
	}
	resp, err := r.Next.Do(req.Clone(ctx))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, largestAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("the answer broke off: %w", err)
	}
	if len(text) > largestAnswer {
		return nil, errTooLarge
	}
	resp.Body, resp.Request = whole(text), req
	return resp, nil
}

// whole is a body that is all there.
func whole(text []byte) io.ReadCloser { return io.NopCloser(bytes.NewReader(text)) }

// peek is the body of an answer that is all there; it stays to be read.
func peek(resp *http.Response) []byte {
	text, err := io.ReadAll(resp.Body)
	if err != nil { // there is nobody on the other side that could fail
		return nil
	}
	resp.Body = whole(text)
	return text
}

var errTooLarge = errors.New("the answer is larger than any of the contract")

// rewind puts the body of a request back to its start.
func rewind(req *http.Request) error {
	if req.GetBody == nil {
		return nil
	}
	body, err := req.GetBody()
	if err != nil {
		return err
	}
	req.Body = body
	return nil
}

// removed reports whether Carve answered a DELETE that there is no such thing. The 404 of something before it tells nothing.
func removed(req *http.Request, resp *http.Response) bool {
	if resp == nil || req.Method != http.MethodDelete || resp.StatusCode != http.StatusNotFound {
		return false
	}
	p, ok := readProblem(resp)
	return ok && p.Code == ProblemCodeNotFound
}

// gone turns the not_found of a repeated DELETE into the 204 that was lost: an earlier attempt has deleted the thing, or somebody
// else has meanwhile. Either way it is as the caller wanted it.
func gone(resp *http.Response) *http.Response {
	resp.StatusCode, resp.Status = http.StatusNoContent, "204 No Content"
	resp.Body, resp.ContentLength = http.NoBody, 0
	return resp
}
