package client

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// first is the parameters of a call, which are there once or not at all.
func first[P any](params []P) *P {
	if len(params) == 0 {
		return nil
	}
	return &params[0]
}

// read reads what an operation answers, all of which has arrived. An answer without content leaves nothing to say: its zero value.
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

// finish ends a call whose success has no body.
func finish(resp *http.Response, err error) error {
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
