// Package apicall makes API requests that must succeed. Tools use it to prepare a server that they measure, attack or observe.
package apicall

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Caller makes requests to one server.
type Caller struct {
	URL    string       // scheme://host:port
	Key    string       // API key; empty for none
	Header http.Header  // additional headers of each request; nil for none
	HTTP   *http.Client // nil: http.DefaultClient
}

// Do makes a request, with a JSON body if body is not empty, and returns the complete response body. Any status other than 2xx is an error.
func (c Caller) Do(ctx context.Context, method, path, body string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.URL+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if c.Header != nil {
		r.Header = c.Header.Clone()
	}
	if c.Key != "" {
		r.Header.Set("Authorization", "Bearer "+c.Key)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	w, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer w.Body.Close()
	answer, err := io.ReadAll(w.Body)
	if err == nil && w.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s %s: %d %s", method, path, w.StatusCode, answer)
	}
	return answer, err
}

// MakeKey makes an API key that may claim in a project, and returns its token.
func (c Caller) MakeKey(ctx context.Context, project, name string) (token string, err error) {
	answer, err := c.Do(ctx, http.MethodPost, "/v1/projects/"+project+"/api-keys", fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"role":"consumer"}}`, name))
	if err != nil {
		return "", err
	}
	var key struct{ Token string }
	err = json.Unmarshal(answer, &key)
	return key.Token, err
}
