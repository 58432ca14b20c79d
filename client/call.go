package client

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
)

// caller sends the requests of a [Carve]. It adds the headers and the idempotency key, and retries a request where that is safe. It returns an error
// for each response that is not a success.
type caller struct {
	settings
	repeater Repeater
}

// Do implements [HttpRequestDoer]. Its errors are of type [*Error].
func (c *caller) Do(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel() // Repeater has read the whole body by then
	}
	req = req.Clone(ctx)
	giveKey(req)
	if err := c.sign(req); err != nil {
		return nil, fail(req, nil, ending{err: err})
	}
	resp, end := c.repeater.do(req)
	if end.err != nil {
		return nil, fail(req, nil, end)
	}
	if succeeded(req, resp) {
		return resp, nil
	}
	if p, ok := readProblem(resp); ok && resp.StatusCode >= http.StatusBadRequest {
		end.err = p
	} else {
		end.err = foreign(resp)
	}
	return nil, fail(req, resp, end)
}

// sign sets the client's headers on a request. If the call itself has set a header, sign keeps it.
// It always replaces User-Agent.
func (c *caller) sign(req *http.Request) error {
	req.Header.Set("User-Agent", c.userAgent)
	for name, values := range c.header {
		if len(req.Header.Values(name)) == 0 || name == "User-Agent" {
			req.Header[name] = values
		}
	}
	if c.token == nil || req.Header.Get("Authorization") != "" {
		return nil
	}
	token, err := c.token(req.Context())
	if err != nil {
		return fmt.Errorf("the source of tokens: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	return nil
}

func fail(req *http.Request, resp *http.Response, end ending) *Error {
	e := &Error{
		Method: req.Method, Path: req.URL.Path, Attempts: end.attempts, MayBeDone: end.mayBeDone,
		IdempotencyKey: req.Header.Get(keyHeader), Err: bare(end.err),
	}
	if resp != nil {
		e.Status, e.RequestID, e.RetryAfter = resp.StatusCode, resp.Header.Get("X-Request-Id"), retryAfter(resp)
	}
	return e
}

// bare removes net/http's outermost url.Error ("Get http://...: dial tcp ..."). [Error] already has the method and the path.
func bare(err error) error {
	if outer, ok := errors.AsType[*url.Error](err); ok && outer == err { //nolint:errorlint // only the outermost one
		return outer.Err
	}
	return err
}

// succeeded reports whether a response is the success that the contract defines for the request. Only such a response has the body that the contract
// describes.
func succeeded(req *http.Request, resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusOK:
		return isJSON(resp) && req.Method != http.MethodDelete && (req.Method != http.MethodPost || takesNoKey(req))
	case http.StatusCreated:
		return isJSON(resp) && (req.Method == http.MethodPut || req.Method == http.MethodPost && !takesNoKey(req))
	case http.StatusAccepted:
		return isJSON(resp) && req.Method == http.MethodDelete
	case http.StatusNoContent:
		return req.Method == http.MethodDelete
	default:
		return false
	}
}

func isJSON(resp *http.Response) bool { return hasType(resp, "application/json") }

// hasType reports whether a response's body has a media type.
func hasType(resp *http.Response, want string) bool {
	mediaType, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return err == nil && mediaType == want
}
