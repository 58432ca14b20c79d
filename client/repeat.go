package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Repeater retries requests where that is safe and may help. The client that [New] makes sends its requests through a Repeater. Callers of the bare
// [Client] can use a Repeater themselves. It implements [HttpRequestDoer]. It reads a response's whole body before it returns the response.
type Repeater struct {
	Next   HttpRequestDoer
	Policy RetryPolicy
}

// LostError is the error for a call that ended without a response.
type LostError struct {
	Err       error // the last attempt's error
	MayBeDone bool  // the server may have carried out the request
}

func (e *LostError) Error() string { return e.Err.Error() }
func (e *LostError) Unwrap() error { return e.Err }

// Do sends a request and retries it if the policy allows that. Its errors are of type [*LostError].
func (r Repeater) Do(req *http.Request) (*http.Response, error) {
	resp, end := r.do(req)
	if end.err != nil {
		return nil, &LostError{Err: end.err, MayBeDone: end.mayBeDone}
	}
	return resp, nil
}

// ending is a call's outcome.
type ending struct {
	err       error // set if there is no response
	mayBeDone bool  // the server may have carried out an attempt whose outcome is unknown
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
		reason, again := shouldRetry(req.Context(), resp, end.err)
		pause, bounded := r.Policy.pause(end.attempts, resp)
		end.mayBeDone = outcomeUnknown(end.mayBeDone, req, resp, end.err)
		if !again || !bounded || end.attempts >= r.Policy.Attempts || !canResend(req) || !timeFor(req.Context(), pause) {
			return resp, end
		}
		if end.mayBeDone && !isIdempotent(req) {
			return resp, end
		}
		if r.Policy.OnRepeat != nil {
			r.Policy.OnRepeat(Repeat{Request: req, Reason: reason, Attempt: end.attempts, Pause: pause})
		}
		err := r.Policy.wait(req.Context(), pause)
		if err == nil {
			err = rewind(req)
		}
		if err != nil {
			end.err = err
			return nil, end
		}
	}
}

// largestAnswer bounds a response in bytes. Every response in the contract is smaller.
const largestAnswer = 64 << 20

// attempt sends a request once and reads the whole response. It returns an error if the response breaks off.
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

// whole returns a reader of a body that is in memory.
func whole(text []byte) io.ReadCloser { return io.NopCloser(bytes.NewReader(text)) }

// peek returns a response's body. The body is in memory, and the next reader can still read it.
func peek(resp *http.Response) []byte {
	text, err := io.ReadAll(resp.Body)
	if err != nil { // cannot happen: the body is in memory
		return nil
	}
	resp.Body = whole(text)
	return text
}

var errTooLarge = errors.New("the answer is larger than any of the contract")

// rewind sets a request's body back to its start.
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

// removed reports whether Carve returned not_found for a DELETE. A 404 from a proxy does not count.
func removed(req *http.Request, resp *http.Response) bool {
	if resp == nil || req.Method != http.MethodDelete || resp.StatusCode != http.StatusNotFound {
		return false
	}
	p, ok := readProblem(resp)
	return ok && p.Code == ProblemCodeNotFound
}

// gone replaces the not_found of a retried DELETE with 204 (no content). An earlier attempt, or another client, has deleted the object. In both cases
// the object is gone, as the caller wanted.
func gone(resp *http.Response) *http.Response {
	resp.StatusCode, resp.Status = http.StatusNoContent, "204 No Content"
	resp.Body, resp.ContentLength = http.NoBody, 0
	return resp
}
