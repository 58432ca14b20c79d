package client

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// first returns a call's optional parameters. If the call has none, it returns nil.
func first[P any](params []P) *P {
	if len(params) == 0 {
		return nil
	}
	return &params[0]
}

// read decodes an operation's response. If the response has no content, it returns the zero value.
func read[T any](resp *http.Response, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	answer := new(T)
	if resp.StatusCode == http.StatusNoContent {
		return answer, nil
	}
	if err := json.NewDecoder(resp.Body).Decode(answer); err != nil {
		return nil, fmt.Errorf("client: the answer to %s %s: %w", resp.Request.Method, resp.Request.URL.Path, err)
	}
	return answer, nil
}

// finish closes the response of a call whose success has no body.
func finish(resp *http.Response, err error) error {
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
